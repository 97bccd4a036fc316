#include "model/model.h"

#include <set>

#include "core/check.h"
#include "core/text.h"
#include "model/checkpoint.h"
#include "model/ijepa.h"
#include "model/init.h"

namespace vivace::model {
namespace {

std::string types_of(const Checkpoint& checkpoint) {
  std::set<std::string> types;
  for (const std::string& name : checkpoint.names()) {
    if (const auto view = checkpoint.find(name)) types.emplace(name_of(view->type()));
  }
  return join(std::vector<std::string>(types.begin(), types.end()), ", ");
}

}  // namespace

Result<std::shared_ptr<const Model>> Model::load(const std::filesystem::path& folder) {
  return load(folder, ops::cpu_backend());
}

Result<std::shared_ptr<const Model>> Model::load(const std::filesystem::path& folder,
                                                 const ops::Backend& backend) {
  VIVACE_TRY(const Checkpoint checkpoint, Checkpoint::open(folder));
  VIVACE_TRY(const Json config, checkpoint.read_config("config.json"));
  VIVACE_TRY(Ijepa ijepa, load_ijepa(checkpoint, config, backend));

  auto model = std::make_shared<Model>();
  model->facts_.family = "ijepa";
  model->facts_.folder = folder;
  model->facts_.weight_files = checkpoint.files();
  model->facts_.weights_type = types_of(checkpoint);
  model->facts_.parameters = ijepa.parameters;
  model->facts_.weights_bytes = checkpoint.weights_bytes();
  model->facts_.stand_in = !checkpoint.metadata(kStandInKey).empty();
  model->facts_.labels = std::move(ijepa.labels);
  model->encoder_ = std::make_unique<Vit>(backend, ijepa.geometry, std::move(ijepa.weights));
  model->classifier_ = std::move(ijepa.classifier);
  return std::shared_ptr<const Model>(std::move(model));
}

std::size_t Model::packed_bytes() const {
  return encoder_->bytes() + (classifier_ != nullptr ? classifier_->bytes() : 0);
}

void Model::pool(Workspace& workspace, const float* tokens, std::int64_t batch, Size2 size,
                 float* pooled) const {
  const VitGeometry& geometry = encoder_->geometry();
  encoder_->backend().mean_tokens(workspace.context(), tokens, batch, geometry.tokens(size),
                                  geometry.width, pooled);
}

void Model::classify(Workspace& workspace, const float* pooled, std::int64_t batch,
                     float* logits) const {
  VIVACE_CHECK(classifier_ != nullptr);
  encoder_->backend().linear(workspace.context(), pooled, batch, *classifier_, {}, logits);
}

std::vector<OperatorCost> Model::costs(std::int64_t batch, Size2 size) const {
  std::vector<OperatorCost> costs = encoder_->costs(batch, size);
  const VitGeometry& geometry = encoder_->geometry();
  const auto b = static_cast<double>(batch);
  const auto n = static_cast<double>(geometry.tokens(size));
  const auto d = static_cast<double>(geometry.width);
  OperatorCost pool{"mean_pool", Stage::kPostprocess, 1, b * n * d, 4 * b * (n + 1) * d};
  costs.push_back(pool);
  if (classifier_ != nullptr) {
    const auto c = static_cast<double>(classes());
    costs.push_back(
        {"classifier", Stage::kPostprocess, 1, 2 * b * d * c, 4 * (d * c + c + b * (d + c))});
  }
  return costs;
}

}  // namespace vivace::model
