// How the data of a graph is stored. The bindings name every field of a struct:
// whoever adds one is stopped here, stores it and raises formatVersion.
#pragma once

#include "executable/CheckViews.hpp"
#include "executable/VisitBasics.hpp"

#include <poplar/internal/TargetFields.hpp>

#include <algorithm>

namespace poplar::executable {

template <>
inline constexpr auto lastOf<internal::TargetKind> = internal::TargetKind::Cpu;

template <>
inline constexpr auto lastOf<IpuLinkTopology> = IpuLinkTopology::Line;
template <>
inline constexpr auto lastOf<IpuLinkConfiguration> =
    IpuLinkConfiguration::SlidingWindow;

template <typename Archive>
void visit(Archive &archive, Is<internal::TargetData> auto &target) {
  std::apply([&](auto &...fields) { archive(fields...); },
             internal::targetFields(target));
}

template <typename Archive>
void visit(Archive &archive,
           Is<std::shared_ptr<const internal::TargetData>> auto &target) {
  if constexpr (Archive::isReading) {
    internal::TargetData data;
    archive(data);
    target = std::make_shared<const internal::TargetData>(std::move(data));
  } else {
    support::requireUser<poplar_error>(
        target != nullptr,
        "[Executable::serialize] the graph was made without a target");
    archive(*target);
  }
}

template <typename Archive>
void visit(Archive &archive, Is<internal::Piece> auto &piece) {
  auto &[variable, offset, extents, strides] = piece;
  archive(variable, offset, extents, strides);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::TensorView> auto &view) {
  auto &[type, shape, pieces] = view;
  archive(type, shape, pieces);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::MappingPiece> auto &piece) {
  auto &[begin, end, firstTile, parts, grain] = piece;
  archive(begin, end, firstTile, parts, grain);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::TileMapping> auto &mapping) {
  std::vector<internal::MappingPiece> pieces = mapping.pieces();
  archive(pieces);
  if constexpr (Archive::isReading) {
    checkMapping(pieces);
    mapping.set(std::move(pieces));
  }
}

template <typename Archive>
void visit(Archive &archive, Is<internal::Variable> auto &variable) {
  auto &[type, shape, debugPath, mapping, isConstant, isReplicaIndex,
         initialData] = variable;
  archive(type, shape, debugPath, mapping, isConstant, isReplicaIndex,
          initialData);
}

// Kinds by name: their numbers change when one is added.
template <typename Archive>
void visit(Archive &archive, Is<const kernels::Kind *> auto &kind) {
  std::string name(kind == nullptr ? "" : kind->name);
  archive(name);
  if constexpr (Archive::isReading) {
    const auto kinds = kernels::allKinds();
    const auto found = std::find_if(
        kinds.begin(), kinds.end(),
        [&](const kernels::Kind *known) { return known->name == name; });
    requireIntact(found != kinds.end(), "no kind of operation is named '{}'",
                  name);
    kind = *found;
  }
}

template <typename Archive>
void visit(Archive &archive, Is<kernels::Attributes> auto &attributes) {
  std::vector<kernels::Attributes::Entry> entries = attributes.entries();
  archive(entries);
  if constexpr (Archive::isReading) {
    for (auto &[name, value] : entries) {
      attributes.set(name, std::move(value));
    }
  }
}

template <typename Archive>
void visit(Archive &archive, Is<internal::VertexUse> auto &use) {
  auto &[type, count, cycles, isSupervisor, edges, stateBytes, codeBytes,
         flops] = use;
  archive(type, count, cycles, isSupervisor, edges, stateBytes, codeBytes,
          flops);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::TileRun> auto &run) {
  auto &[firstTile, tileCount, bytesIn, bytesOut, fragmentsIn, fragmentsOut,
         isBusShared, temporaryBytes, vertices] = run;
  archive(firstTile, tileCount, bytesIn, bytesOut, fragmentsIn, fragmentsOut,
          isBusShared, temporaryBytes, vertices);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::GroupPhase> auto &phase) {
  auto &[name, runs] = phase;
  archive(name, runs);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::VertexGroup> auto &group) {
  auto &[kind, attributes, inputs, outputs, phases, debugPath] = group;
  archive(kind, attributes, inputs, outputs, phases, debugPath);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::ComputeSetData> auto &computeSet) {
  auto &[debugPath, groups, vertices] = computeSet;
  archive(debugPath, groups, vertices);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::StreamData> auto &stream) {
  auto &[handle, type, elements, isHostToDevice, isBroadcast, bufferingDepth,
         splitLimitBytes] = stream;
  archive(handle, type, elements, isHostToDevice, isBroadcast, bufferingDepth,
          splitLimitBytes);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::RemoteBufferData> auto &buffer) {
  auto &[handle, type, elements, repeats] = buffer;
  archive(handle, type, elements, repeats);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::HostAccess> auto &access) {
  auto &[view] = access;
  archive(view);
}

} // namespace poplar::executable
