#include "DnnlLayouts.hpp"

#include <support/Error.hpp>

#include <algorithm>

namespace kernels {

namespace {

using Places = std::vector<DimPlace>;
using Desc = dnnl::memory::desc;

// Where oneDNN keeps the indices of each dimension; nothing where it cuts one
// into blocks twice or pads.
std::optional<Places> placesOf(const Desc &desc) {
  const auto &data = desc.data;
  if (data.format_kind != dnnl_blocked) {
    return std::nullopt;
  }
  const auto &blocking = data.format_desc.blocking;
  Places places(static_cast<std::size_t>(data.ndims));
  for (std::size_t d = 0; d < places.size(); ++d) {
    if (data.dims[d] != data.padded_dims[d]) {
      return std::nullopt;
    }
    places[d].outer = blocking.strides[d];
  }
  std::int64_t stride = 1;
  for (int i = blocking.inner_nblks; i-- > 0;) {
    DimPlace &place = places[static_cast<std::size_t>(blocking.inner_idxs[i])];
    if (place.block > 1) {
      return std::nullopt;
    }
    place.block = blocking.inner_blks[i];
    place.inner = stride;
    stride *= place.block;
  }
  return places;
}

// Joins the groups and the output channels of a group into one dimension.
std::optional<Places> joinGroups(const Places &places, const Desc &desc) {
  const DimPlace &groups = places[0];
  const DimPlace &channels = places[1];
  const std::int64_t count = desc.data.dims[1];
  Places joined(places.begin() + 1, places.end());
  if (count == 1) {
    joined[0] = groups;
  } else if (groups.block > 1 ||
             groups.outer != count / channels.block * channels.outer) {
    return std::nullopt;
  }
  return joined;
}

bool isSame(const Places &a, const Places &b, const Shape &shape) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (a[d].block != b[d].block ||
        (a[d].block > 1 && a[d].inner != b[d].inner) ||
        (shape[d] > a[d].block && a[d].outer != b[d].outer)) {
      return false;
    }
  }
  return true;
}

Layout findLayout(const Desc &desc, const Shape &shape,
                  std::initializer_list<Layout> layouts) {
  auto places = placesOf(desc);
  if (places && places->size() > shape.size()) {
    places = joinGroups(*places, desc);
  }
  for (const Layout layout : layouts) {
    if (places && isLayoutFor(layout, shape) &&
        isSame(*places,
               placesOf(OperandSpec{DataType::Float, shape, {}, layout}),
               shape)) {
      return layout;
    }
  }
  return Layout::Plain;
}

Desc blockedImage(const Shape &shape, Layout layout) {
  using Tag = dnnl::memory::format_tag;
  constexpr Tag by16[] = {Tag::aBc16b, Tag::aBcd16b, Tag::aBcde16b};
  constexpr Tag by8[] = {Tag::aBc8b, Tag::aBcd8b, Tag::aBcde8b};
  const auto &tags = layout == Layout::ChannelBlocked8 ? by8 : by16;
  return {shape, dnnl::memory::data_type::f32, tags[shape.size() - 3]};
}

} // namespace

Layout imageLayoutOf(const Desc &desc, const Shape &shape) {
  return findLayout(desc, shape,
                    {Layout::ChannelBlocked16, Layout::ChannelBlocked8});
}

Layout weightLayoutOf(const Desc &desc, const Shape &shape) {
  return findLayout(desc, shape,
                    {Layout::WeightsInOut16, Layout::WeightsOutIn16,
                     Layout::WeightsInMajor16, Layout::WeightsOut16,
                     Layout::WeightsInOut8, Layout::WeightsOutIn8,
                     Layout::WeightsInMajor8, Layout::WeightsOut8});
}

ShardRange elementsOf(const OperandSpec &operand, const Part &part) {
  const auto places = placesOf(operand);
  ShardRange range{0, 1};
  for (std::size_t d = 0; d < places.size(); ++d) {
    const auto [block, outer, inner] = places[d];
    const ShardRange indices = d == 0   ? part.first
                               : d == 1 ? part.second
                                        : ShardRange{0, operand.shape[d]};
    const std::int64_t last = indices.end - 1;
    range.begin += indices.begin / block * outer;
    range.end += last / block * outer + last % block * inner;
  }
  return range;
}

Desc imageDesc(const OperandSpec &operand, const Part &part,
               const Desc &inside) {
  const Shape shape = part.shapeIn(operand.shape);
  if (operand.layout == Layout::Plain) {
    return dnnlStrided(shape, operand.strides);
  }
  if (shape[0] == 1 || shape[1] == operand.shape[1]) {
    return inside;
  }
  return blockedImage(operand.shape, operand.layout)
      .submemory_desc(shape, Shape(shape.size(), 0));
}

Desc weightDesc(const OperandSpec &operand, const Part &part,
                std::int64_t groups, const Desc &inside) {
  if (operand.layout != Layout::Plain) {
    return inside;
  }
  Shape shape = part.shapeIn(operand.shape);
  Strides strides = operand.strides;
  if (groups > 1) {
    shape[0] /= groups;
    strides.insert(strides.begin(), shape[0] * strides[0]);
    shape.insert(shape.begin(), groups);
  }
  return dnnlStrided(shape, strides);
}

} // namespace kernels
