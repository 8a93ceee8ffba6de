// Types and shapes of inputs that the model leaves open.
#pragma once

#include <popart/tensorinfo.hpp>

#include <map>
#include <vector>

namespace popart {

class InputShapeInfo {
public:
  InputShapeInfo() = default;

  void add(const TensorId &id, const TensorInfo &info) { infos_[id] = info; }
  // Throws std::out_of_range when has(id) is false.
  const TensorInfo &get(const TensorId &id) const { return infos_.at(id); }
  bool has(const TensorId &id) const { return infos_.count(id) > 0; }
  std::vector<TensorId> getAllTensorIds() const {
    std::vector<TensorId> ids;
    for (const auto &entry : infos_) {
      ids.push_back(entry.first);
    }
    return ids;
  }

private:
  std::map<TensorId, TensorInfo> infos_;
};

} // namespace popart
