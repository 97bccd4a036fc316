// The presets whose weights fill gigabytes.
#include "model/preset_run.h"

TEST(Presets, VitL16) { vivace::test::run_preset("ijepa-vitl16"); }
TEST(Presets, VitH14) { vivace::test::run_preset("ijepa-vith14"); }
TEST(Presets, VitH16At448) { vivace::test::run_preset("ijepa-vith16-448"); }
TEST(Presets, VitG16) { vivace::test::run_preset("ijepa-vitg16"); }
