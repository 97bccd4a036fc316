// Checkpoints, pictures and tensor files that break their format, one way each: every one is an
// error that names the file, with the exit status of its kind, and leaves nothing behind. Run under
// the sanitizers too, where a read beyond an end shows as another exit status.
#include <functional>

#include "cli/vivace_program.h"
#include "core/json.h"
#include "media/encode.h"
#include "pipeline/npy.h"

namespace vivace::test {
namespace {

using media::test::Bytes;

constexpr int kBadData = 65;
constexpr int kMissing = 66;
constexpr int kUnavailable = 69;

std::string cut(std::string bytes, std::size_t kept) {
  bytes.resize(kept);
  return bytes;
}

std::string text(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

/// A safetensors file of this header and so many zero bytes.
std::string safetensors(const std::string& header, std::size_t data_bytes = 0) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return file + header + std::string(data_bytes, '\0');
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + R"(": {"dtype": ")" + dtype + R"(", "shape": )" + shape +
         R"(, "data_offsets": )" + offsets + "}";
}

/// A checkpoint is broken by `change`; `embed` and `measure` must both refuse it.
struct BadCheckpoint {
  const char* name;
  std::function<void(TinyCheckpoint&)> change;
  int status;
  Words says;
};

class BadCheckpointTest : public testing::TestWithParam<BadCheckpoint> {};

TEST_P(BadCheckpointTest, IsRefusedByNameAndNothingIsWritten) {
  TinyCheckpoint checkpoint;
  GetParam().change(checkpoint);
  const TemporaryFolder out;
  const std::string model = checkpoint.folder().string();
  Words says = GetParam().says;
  says.push_back(checkpoint.folder().filename().string());
  const std::string file = (out.path() / "out.npy").string();
  expect_error(vivace({"embed", "--model", model, "synthetic:40x40", "-o", file}),
               GetParam().status, says);
  expect_error(vivace({"measure", "--model", model, "synthetic:40x40", "--samples", "1", "--json",
                       (out.path() / "r.json").string()}),
               GetParam().status, says);
  EXPECT_TRUE(names_in(out.path()).empty());
}

BadCheckpoint weights(const char* name, const std::string& bytes, Words says = {}) {
  says.insert(says.begin(), "model.safetensors");
  return {name, [=](TinyCheckpoint& c) { write_bytes(c.weights(), bytes); }, kBadData, says};
}

BadCheckpoint changed_weights(const char* name, std::function<void(std::string&)> change,
                              Words says = {}) {
  says.insert(says.begin(), "model.safetensors");
  const auto rewrite = [=](TinyCheckpoint& c) {
    std::string bytes = text_of(c.weights());
    change(bytes);
    write_bytes(c.weights(), bytes);
  };
  return {name, rewrite, kBadData, says};
}

/// Two shards, then a change of the index.
BadCheckpoint sharded(const char* name, const std::string& weight_map, int status, Words says) {
  const auto rewrite = [=](TinyCheckpoint& c) {
    fs::rename(c.weights(), c.folder() / "part-1.safetensors");
    write_bytes(c.folder() / "part-2.safetensors",
                safetensors("{" + entry("extra", "F32", "[1]", "[0, 4]") + "}", 4));
    write_bytes(c.folder() / "model.safetensors.index.json", weight_map);
  };
  return {name, rewrite, status, says};
}

BadCheckpoint config(const char* name, const char* field, Json value, Words says = {}) {
  says.insert(says.begin(), field);
  const auto rewrite = [=](TinyCheckpoint& c) {
    c.config().set(field, value);
    c.write();
  };
  return {name, rewrite, kBadData, says};
}

BadCheckpoint file(const char* name, const char* file_name, const std::string& bytes,
                   Words says = {}) {
  says.insert(says.begin(), file_name);
  return {name, [=](TinyCheckpoint& c) { write_bytes(c.folder() / file_name, bytes); }, kBadData,
          says};
}

BadCheckpoint preprocessor(const char* name, const std::string& member, Words says) {
  const std::string start =
      R"({"size": {"height": 32, "width": 32}, "image_mean": [0.5, 0.5, 0.5], )";
  return file(name, "preprocessor_config.json", start + member + "}", says);
}

const std::string kDeep = std::string(100, '[') + std::string(100, ']');

INSTANTIATE_TEST_SUITE_P(
    Weights, BadCheckpointTest,
    testing::Values(
        weights("empty", "", {"at least 8 bytes"}), weights("seven_bytes", "1234567"),
        weights("header_length_of_2_63", std::string("\0\0\0\0\0\0\0\x80", 8), {"header"}),
        weights("header_longer_than_the_file", cut(safetensors("{}      "), 12), {"cut short"}),
        weights("header_without_brace", safetensors("[]"), {"\"{\""}),
        weights("header_not_json", safetensors("{\"a\": }"), {"header"}),
        weights("header_of_two_values", safetensors("{} {}"), {"header"}),
        weights("header_with_a_key_twice",
                safetensors("{" + entry("a", "F32", "[1]", "[0, 4]") + "," +
                                entry("a", "F32", "[1]", "[4, 8]") + "}",
                            8),
                {"header"}),
        weights("header_not_utf8", safetensors("{\"\xff\xfe\": 1}"), {"header"}),
        weights("header_deep", safetensors("{\"a\": " + kDeep + "}"), {"header"}),
        weights("entry_no_object", safetensors("{\"a\": 3}"), {"\"a\"", "an object"}),
        weights("no_dtype", safetensors("{\"a\": {\"shape\": [], \"data_offsets\": [0, 0]}}"),
                {"\"dtype\""}),
        weights("odd_member",
                safetensors("{\"a\": {\"dtype\": \"F32\", \"shape\": [0], \"data_offsets\": [0, "
                            "0], \"more\": 1}}"),
                {"\"more\""}),
        weights("unknown_dtype", safetensors("{" + entry("a", "F8", "[1]", "[0, 1]") + "}", 1),
                {"\"F8\""}),
        weights("negative_extent", safetensors("{" + entry("a", "F32", "[-1]", "[0, 4]") + "}", 4),
                {"-1"}),
        weights("shape_that_overflows",
                safetensors("{" +
                                entry("a", "F32", "[4611686018427387904, 4611686018427387904]",
                                      "[0, 4]") +
                                "}",
                            4),
                {"overflows"}),
        weights("shape_no_array", safetensors("{" + entry("a", "F32", "4", "[0, 4]") + "}", 4)),
        weights("offsets_reversed", safetensors("{" + entry("a", "F32", "[1]", "[4, 0]") + "}", 4)),
        weights("offsets_negative", safetensors("{" + entry("a", "F32", "[1]", "[-4, 0]") + "}", 4)),
        weights("offsets_outside", safetensors("{" + entry("a", "F32", "[2]", "[0, 8]") + "}", 4),
                {"cut short"}),
        weights("one_offset", safetensors("{" + entry("a", "F32", "[1]", "[4]") + "}", 4)),
        weights("extent_and_shape_differ",
                safetensors("{" + entry("a", "F32", "[2]", "[0, 4]") + "}", 4), {"8 bytes"}),
        weights("overlap",
                safetensors("{" + entry("a", "F32", "[2]", "[0, 8]") + "," +
                                entry("b", "F32", "[1]", "[4, 8]") + "}",
                            8),
                {"overlaps"}),
        weights("hole",
                safetensors("{" + entry("a", "F32", "[1]", "[0, 4]") + "," +
                                entry("b", "F32", "[1]", "[8, 12]") + "}",
                            12),
                {"hole"}),
        weights("metadata_of_numbers", safetensors("{\"__metadata__\": {\"a\": 1}}"),
                {"__metadata__"}),
        weights("tensor_of_nine_extents",
                safetensors("{" + entry("a", "F32", "[1,1,1,1,1,1,1,1,1]", "[0, 4]") + "}", 4),
                {"extents"}),
        BadCheckpoint{"no_tensors",
                      [](TinyCheckpoint& c) { write_bytes(c.weights(), safetensors("{}")); },
                      kBadData,
                      {"missing"}},
        weights("lfs_pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n"),
        changed_weights("cut_short", [](std::string& b) { b.resize(b.size() - 1); }, {"cut short"}),
        changed_weights("with_a_tail", [](std::string& b) { b += '\0'; }, {"goes on"}),
        changed_weights("with_a_bit_flipped", [](std::string& b) { b[9] ^= 0x40; }),
        BadCheckpoint{"tensor_missing",
                      [](TinyCheckpoint& c) {
                        c.remove("encoder.layer.1.output.dense.bias");
                        c.write();
                      },
                      kBadData,
                      {"encoder.layer.1.output.dense.bias", "missing"}},
        BadCheckpoint{"tensor_of_a_wrong_shape",
                      [](TinyCheckpoint& c) {
                        c.remove("layernorm.bias");
                        c.add("layernorm.bias", {31});
                        c.write();
                      },
                      kBadData,
                      {"layernorm.bias", "[32]", "[31]"}},
        BadCheckpoint{"position_table_of_another_grid",
                      [](TinyCheckpoint& c) {
                        c.remove("embeddings.position_embeddings");
                        c.add("embeddings.position_embeddings", {1, 15, 32});
                        c.write();
                      },
                      kBadData,
                      {"position_embeddings", "[1, 15, 32]"}},
        BadCheckpoint{"tensor_too_many",
                      [](TinyCheckpoint& c) {
                        c.add("decoder.weight", {2, 2});
                        c.write();
                      },
                      kBadData,
                      {"decoder.weight"}},
        BadCheckpoint{"no_weights", [](TinyCheckpoint& c) { fs::remove(c.weights()); }, kMissing,
                      {"no weights"}},
        BadCheckpoint{"weights_a_folder",
                      [](TinyCheckpoint& c) {
                        fs::remove(c.weights());
                        fs::create_directory(c.weights());
                      },
                      kMissing,
                      {"model.safetensors"}}),
    [](const auto& chosen) { return chosen.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Index, BadCheckpointTest,
    testing::Values(
        sharded("not_json", "{", kBadData, {"index.json"}),
        sharded("no_weight_map", "{}", kBadData, {"weight_map"}),
        sharded("empty_weight_map", R"({"weight_map": {}})", kBadData, {"weight_map"}),
        sharded("weight_map_of_numbers", R"({"weight_map": {"a": 1}})", kBadData, {"\"a\""}),
        sharded("outside_the_folder", R"({"weight_map": {"a": "../part-1.safetensors"}})", kBadData,
                {"same folder", "../part-1.safetensors"}),
        sharded("absolute", R"({"weight_map": {"a": "/etc/passwd"}})", kBadData, {"same folder"}),
        sharded("shard_missing", R"({"weight_map": {"a": "part-3.safetensors"}})", kMissing,
                {"part-3.safetensors"}),
        sharded("tensor_not_in_its_shard", R"({"weight_map": {"a": "part-2.safetensors"}})",
                kBadData, {"\"a\"", "part-2.safetensors"}),
        sharded("tensor_not_in_the_index", R"({"weight_map": {"layernorm.bias":
                "part-1.safetensors", "extra": "part-2.safetensors"}})",
                kBadData, {"is not named by"})),
    [](const auto& chosen) { return chosen.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Config, BadCheckpointTest,
    testing::Values(
        BadCheckpoint{"absent",
                      [](TinyCheckpoint& c) { fs::remove(c.folder() / "config.json"); },
                      kMissing,
                      {"config.json"}},
        file("empty", "config.json", ""), file("cut_short", "config.json", "{\"model_type\": "),
        file("a_list", "config.json", "[]", {"an object"}),
        file("a_key_twice", "config.json", R"({"a": 1, "a": 2})"),
        file("deep", "config.json", "{\"a\": " + kDeep + "}"),
        file("no_model_type", "config.json", "{}", {"model_type"}),
        config("other_family", "model_type", "vjepa2", {"ijepa", "vjepa2"}),
        config("no_heads", "num_attention_heads", 0), config("odd_heads", "num_attention_heads", 3),
        config("heads_of_text", "num_attention_heads", "2"),
        config("another_width", "hidden_size", 64, {"32", "64"}),
        config("another_depth", "num_hidden_layers", 3),
        config("another_mlp", "intermediate_size", 65), config("another_patch", "patch_size", 4),
        config("image_no_multiple", "image_size", 36),
        BadCheckpoint{"image_of_another_grid",
                      [](TinyCheckpoint& c) {
                        c.config().set("image_size", 64);
                        c.write();
                      },
                      kBadData,
                      {"position_embeddings", "[1, 64, 32]"}},
        config("image_of_text", "image_size", "32"),
        config("image_of_three", "image_size", JsonArray{32, 32, 32}),
        config("huge_image", "image_size", std::int64_t{1} << 40),
        config("negative_eps", "layer_norm_eps", -1.0),
        config("eps_of_text", "layer_norm_eps", "x"),
        config("other_activation", "hidden_act", "relu", {"relu"}),
        config("bias_of_text", "qkv_bias", "yes"),
        config("labels_with_a_gap", "id2label", JsonObject{{"0", "cat"}, {"2", "dog"}})),
    [](const auto& chosen) { return chosen.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Preprocessor, BadCheckpointTest,
    testing::Values(
        BadCheckpoint{
            "absent",
            [](TinyCheckpoint& c) { fs::remove(c.folder() / "preprocessor_config.json"); },
            kMissing,
            {"preprocessor_config.json"}},
        file("empty", "preprocessor_config.json", ""),
        file("a_list", "preprocessor_config.json", "[1]"),
        preprocessor("nearest", R"("resample": 0)", {"resample", "nearest"}),
        preprocessor("resample_of_text", R"("resample": "bilinear")", {"resample"}),
        preprocessor("deviation_of_zero", R"("image_std": [0, 1, 1])", {"image_std"}),
        preprocessor("two_deviations", R"("image_std": [1, 1])", {"image_std", "2 elements"}),
        preprocessor("padding", R"("do_pad": true)", {"do_pad"}),
        preprocessor("factor_of_text", R"("rescale_factor": "1/255")", {"rescale_factor"}),
        preprocessor("crop_to_another_size", R"("do_center_crop": true, "crop_size": 16)", {"16"}),
        file("another_size", "preprocessor_config.json", R"({"size": {"height": 64, "width": 64}})",
             {"64"}),
        file("size_of_zero", "preprocessor_config.json", R"({"size": 0})", {"size"}),
        file("size_of_nothing", "preprocessor_config.json", R"({"size": {}})", {"size"})),
    [](const auto& chosen) { return chosen.param.name; });

// Pictures and ready tensors --------------------------------------------------------------------

/// A file of this name and content; or, where `input` is set, an input that stands for itself.
struct BadInput {
  const char* name;
  const char* file_name;
  std::function<std::string()> content;
  int status;
  Words says;
  const char* input = nullptr;
};

class BadInputTest : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, IsRefusedByNameAndNothingIsWritten) {
  const BadInput& bad = GetParam();
  const TinyCheckpoint checkpoint;
  const TemporaryFolder folder;
  const TemporaryFolder out;
  ProgramOptions options;
  options.folder = folder.path();
  if (bad.content) write_bytes(folder.path() / bad.file_name, bad.content());
  Words says = bad.says;
  says.push_back(bad.file_name);
  const std::string input = bad.input != nullptr ? bad.input : bad.file_name;
  const Words start = {"--model", checkpoint.folder().string(), input};
  expect_error(
      vivace(Words{"embed"} + start + Words{"-o", (out.path() / "o.npy").string()}, options),
      bad.status, says);
  // The good input before it must not leave half a result.
  expect_error(
      vivace(Words{"embed", "synthetic:40x40"} + start +
                 Words{"--emit", "tokens,pooled", "-o", (out.path() / "o.safetensors").string()},
             options),
      bad.status, says);
  expect_error(
      vivace(Words{"measure", "--json", (out.path() / "r.json").string()} + start, options),
      bad.status, says);
  EXPECT_TRUE(names_in(out.path()).empty());
}

Bytes small_jpeg() { return media::test::encode_jpeg(media::test::picture(24, 40)); }
Bytes small_png() { return media::test::encode_png(media::test::picture(24, 40)); }
Bytes small_webp() { return media::test::encode_webp(media::test::picture(24, 40), false); }

BadInput bytes(const char* name, const char* file_name, std::function<Bytes()> make, int status,
               Words says = {}) {
  return {name, file_name, [=] { return text(make()); }, status, says};
}

Bytes png_of_size(std::uint32_t width, std::uint32_t height) {
  return media::test::png_of(
      {media::test::png_header(width, height, 8, 2), media::test::png_data(Bytes(30, 1), 30)});
}

/// The start of a frame says 65535 x 65535.
Bytes jpeg_bomb() {
  Bytes jpeg = small_jpeg();
  for (std::size_t i = 0; i + 9 < jpeg.size(); ++i) {
    if (jpeg[i] == 0xff && jpeg[i + 1] == 0xc0) {
      std::fill_n(jpeg.begin() + static_cast<std::ptrdiff_t>(i) + 5, 4, std::uint8_t{0xff});
      return jpeg;
    }
  }
  return {};
}

INSTANTIATE_TEST_SUITE_P(
    Picture, BadInputTest,
    testing::Values(
        BadInput{"empty", "a.jpg", [] { return std::string(); }, kBadData, {}},
        BadInput{"cut_jpeg", "a.jpg", [] { return cut(text(small_jpeg()), 200); }, kBadData, {}},
        BadInput{"cut_png", "a.png", [] { return cut(text(small_png()), 500); }, kBadData, {}},
        BadInput{"cut_webp", "a.webp", [] { return cut(text(small_webp()), 60); }, kBadData, {}},
        BadInput{"three_bytes", "a.jpg", [] { return std::string("\xff\xd8\xff"); }, kBadData, {}},
        bytes(
            "png_with_a_bit_flipped_in_its_header", "a.png",
            [] {
              Bytes png = small_png();
              png[18] ^= 0x10;
              return png;
            },
            kBadData),
        bytes(
            "jpeg_with_its_header_flipped", "a.jpg",
            [] {
              Bytes jpeg = small_jpeg();
              for (std::size_t i = 2; i < 30; ++i) jpeg[i] ^= 0xff;
              return jpeg;
            },
            kBadData),
        bytes(
            "png_of_no_width", "a.png", [] { return png_of_size(0, 10); }, kBadData),
        bytes("png_bomb", "a.png", [] { return png_of_size(60000, 60000); }, kBadData, {"pixels"}),
        bytes(
            "png_of_2_31_columns", "a.png", [] { return png_of_size(1u << 31, 1); }, kBadData),
        bytes("jpeg_bomb", "a.jpg", jpeg_bomb, kBadData, {"pixels"}),
        BadInput{"text", "a.jpg", [] { return std::string("hello"); }, kBadData, {"not an image"}},
        BadInput{"page",
                 "a.jpg",
                 [] { return std::string("<!DOCTYPE html><p>404"); },
                 kBadData,
                 {"HTML"}},
        BadInput{"lfs",
                 "a.jpg",
                 [] { return std::string("version https://git-lfs.x/1\n"); },
                 kBadData,
                 {"LFS"}},
        BadInput{"gif",
                 "a.gif",
                 [] { return std::string("GIF89a\1\0\1\0", 10); },
                 kUnavailable,
                 {"GIF"}},
        BadInput{"tiff",
                 "a.tif",
                 [] { return std::string("II*\0\0\0\0\0", 8); },
                 kUnavailable,
                 {"TIFF"}},
        BadInput{"video",
                 "a.mp4",
                 [] {
                   return std::string(
                       "\0\0\0\x18"
                       "ftypisom",
                       12);
                 },
                 kUnavailable,
                 {"video"}},
        BadInput{"missing", "a.jpg", nullptr, kMissing, {}},
        BadInput{"no_glob", "*.jpg", nullptr, kMissing, {"matches no file"}},
        BadInput{"folder_without_pictures",
                 ".",
                 [] { return std::string(); },
                 kMissing,
                 {"no pictures"}},
        BadInput{"list_of_missing",
                 "l.txt",
                 [] { return std::string("\nnone.jpg\n"); },
                 kMissing,
                 {"none.jpg", "line 2"},
                 "@l.txt"},
        BadInput{"list_of_nothing",
                 "l.txt",
                 [] { return std::string("# x\n"); },
                 kMissing,
                 {},
                 "@l.txt"},
        BadInput{"no_list", "l.txt", nullptr, kMissing, {}, "@l.txt"}),
    [](const auto& chosen) { return chosen.param.name; });

BadInput npy(const char* name, const std::string& dictionary, std::size_t data_bytes,
             Words says = {}, char major = 1) {
  const auto make = [=] {
    std::string header = dictionary;
    while ((header.size() + 11) % 64 != 0) header += ' ';
    header += '\n';
    std::string file = "\x93NUMPY";
    file += major;
    file += '\0';
    file += static_cast<char>(header.size() & 0xff);
    file += static_cast<char>(header.size() >> 8);
    return file + header + std::string(data_bytes, '\0');
  };
  return {name, "a.npy", make, kBadData, says};
}

std::string dictionary(const std::string& type, const std::string& shape,
                       const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

constexpr std::size_t kItemBytes = 3 * 32 * 32 * 4;

std::string tensor_file(const std::string& dtype, const std::string& shape, std::size_t size) {
  return safetensors("{" + entry("x", dtype, shape, "[0, " + std::to_string(size) + "]") + "}",
                     size);
}

INSTANTIATE_TEST_SUITE_P(
    Tensor, BadInputTest,
    testing::Values(
        BadInput{"empty", "a.npy", [] { return std::string(); }, kBadData, {}},
        BadInput{"picture", "a.npy", [] { return text(small_png()); }, kBadData, {}},
        npy("cut_short", dictionary("<f4", "(1, 3, 32, 32)"), kItemBytes - 1),
        npy("with_a_tail", dictionary("<f4", "(1, 3, 32, 32)"), kItemBytes + 1),
        npy("fortran_order", dictionary("<f4", "(1, 3, 32, 32)", "True"), kItemBytes, {"Fortran"}),
        npy("big_endian", dictionary(">f4", "(1, 3, 32, 32)"), kItemBytes, {">f4"}),
        npy("objects", dictionary("|O", "(1, 3, 32, 32)"), kItemBytes, {"|O"}),
        npy("doubles", dictionary("<f8", "(1, 3, 32, 32)"), 2 * kItemBytes, {"float32"}),
        npy("no_shape", "{'descr': '<f4', 'fortran_order': False, }", kItemBytes),
        npy("no_dictionary", "import os", 0),
        npy("negative_extent", dictionary("<f4", "(-1, 3, 32, 32)"), kItemBytes),
        npy("huge", dictionary("<f4", "(4611686018427387904, 3, 32, 32)"), kItemBytes),
        npy("version_9", dictionary("<f4", "(1, 3, 32, 32)"), kItemBytes, {}, 9),
        npy("no_items", dictionary("<f4", "(0, 3, 32, 32)"), 0, {"[0, 3, 32, 32]"}),
        npy("of_two_extents", dictionary("<f4", "(32, 32)"), 4096, {"[B, 3, H, W]", "[32, 32]"}),
        npy("clips", dictionary("<f4", "(1, 1, 3, 32, 32)"), kItemBytes, {"video"}),
        npy("channels_last", dictionary("<f4", "(1, 32, 32, 3)"), kItemBytes, {"[B, 3, H, W]"}),
        npy("of_another_size", dictionary("<f4", "(1, 3, 30, 30)"), 10800, {"32x32", "30x30"}),
        BadInput{"missing", "a.npy", nullptr, kMissing, {}},
        BadInput{"safetensors_missing", "a.safetensors", nullptr, kMissing, {}, "a.safetensors:x"},
        BadInput{"safetensors_cut",
                 "a.safetensors",
                 [] { return cut(tensor_file("F32", "[1, 3, 32, 32]", kItemBytes), 900); },
                 kBadData,
                 {},
                 "a.safetensors:x"},
        BadInput{"no_such_tensor",
                 "a.safetensors",
                 [] { return tensor_file("F32", "[1, 3, 32, 32]", kItemBytes); },
                 kMissing,
                 {"\"pixels\"", "(expected x"},
                 "a.safetensors:pixels"},
        BadInput{"no_tensor_name",
                 "a.safetensors",
                 [] { return tensor_file("F32", "[1, 3, 32, 32]", kItemBytes); },
                 kMissing,
                 {"which tensor", "(expected x", "FILE.safetensors:NAME"},
                 "a.safetensors:"},
        BadInput{"no_colon",
                 "a.safetensors",
                 [] { return tensor_file("F32", "[1, 3, 32, 32]", kItemBytes); },
                 kMissing,
                 {"which tensor"}},
        BadInput{"tensor_of_integers",
                 "a.safetensors",
                 [] { return tensor_file("I64", "[1, 3, 32, 32]", 2 * kItemBytes); },
                 kBadData,
                 {"float32"},
                 "a.safetensors:x"},
        BadInput{"tensor_of_five_extents",
                 "a.safetensors",
                 [] { return tensor_file("F32", "[1, 1, 3, 32, 32]", kItemBytes); },
                 kBadData,
                 {"video"},
                 "a.safetensors:x"}),
    [](const auto& chosen) { return chosen.param.name; });

using OddInput = ProgramTest;

TEST_F(OddInput, WrongExtensionIsAWarningAndTheRightPicture) {
  for (const auto& [right, wrong, content] :
       {std::tuple("a.png", "a.jpg", small_png()), std::tuple("b.jpg", "b.webp", small_jpeg()),
        std::tuple("c.webp", "c.png", small_webp())}) {
    write_bytes(folder() / right, content);
    write_bytes(folder() / wrong, content);
    const Words start = {"embed", "--model", model(), "--emit", "pixels"};
    const ProgramResult plain = vivace(start + Words{path(right), "-o", path("right.npy")});
    const ProgramResult odd = vivace(start + Words{path(wrong), "-o", path("wrong.npy")});
    EXPECT_EQ(plain.status, 0);
    EXPECT_EQ(plain.err, "");
    EXPECT_EQ(odd.status, 0);
    EXPECT_THAT(odd.err, testing::HasSubstr("vivace: warning: "));
    EXPECT_THAT(odd.err, testing::HasSubstr(wrong));
    EXPECT_EQ(text_of(path("right.npy")), text_of(path("wrong.npy")));
    EXPECT_EQ(vivace(start + Words{path(wrong), "-q", "-o", path("wrong.npy")}).err, "");
  }
}

TEST_F(OddInput, PixelLimitIsTheUsers) {
  write_bytes(folder() / "a.png", small_png());
  const Words start = {"embed", "--model", model(), path("a.png"), "-o", path("o.npy")};
  expect_error(vivace(start + Words{"--max-pixels", "959"}), kBadData, {"a.png", "959"});
  EXPECT_EQ(vivace(start + Words{"--max-pixels", "960"}).status, 0);
}

TEST_F(OddInput, StandardInputIsAPicture) {
  write_bytes(folder() / "a.png", small_png());
  ProgramOptions options;
  options.input = text(small_png());
  const Words start = {"embed", "--model", model()};
  ASSERT_EQ(vivace(start + Words{"-", "-o", path("stdin.npy")}, options).status, 0);
  ASSERT_EQ(vivace(start + Words{path("a.png"), "-o", path("file.npy")}).status, 0);
  EXPECT_EQ(text_of(path("stdin.npy")), text_of(path("file.npy")));
  options.input = "hello";
  expect_error(vivace(start + Words{"-", "-o", path("x.npy")}, options), kBadData,
               {"standard input"});
}

TEST_F(OddInput, OtherInputsLiveOn) {
  expect_error(vivace({"info", "--tensors", path("none.safetensors")}), kMissing, {"none"});
  write_bytes(folder() / "bad.safetensors", "short");
  expect_error(vivace({"info", "--tensors", path("bad.safetensors")}), kBadData, {"bad"});
  expect_error(vivace({"info", "--model", path("none")}), kMissing, {"none", "vivace init"});
  for (const char* input :
       {"synthetic:0x4", "synthetic:99999x99999", "synthetic:x", "synthetic:"}) {
    expect_error(vivace({"measure", "--model", model(), input}), 64, {input});
  }
}

}  // namespace
}  // namespace vivace::test
