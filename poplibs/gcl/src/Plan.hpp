// From what users ask for to what a collective needs: groups of replicas,
// operators, options.
#pragma once

#include <gcl/Collectives.hpp>

#include <poplar/internal/Collective.hpp>

namespace gcl::internal {

// The members of every group. Throws poplibs_error where they do not divide the
// replicas.
std::vector<std::vector<unsigned>> groupsOf(unsigned replicas,
                                            const CommGroup &group);

// "method"; throws invalid_option for what is unknown.
poplar::internal::CollectiveMethod methodOf(const poplar::OptionFlags &options);

// Throws poplibs_error where the operator does not take the type.
poplar::internal::CollectiveOperator operatorOf(CollectiveOperator op,
                                                const poplar::Type &type,
                                                const char *function);

} // namespace gcl::internal
