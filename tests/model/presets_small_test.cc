#include "model/preset_run.h"

TEST(PresetsSmall, VitS16) { vivace::test::run_preset("ijepa-vits16"); }
TEST(PresetsSmall, VitB16) { vivace::test::run_preset("ijepa-vitb16"); }
