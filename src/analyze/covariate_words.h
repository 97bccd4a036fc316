// What is known about each covariate beside its numbers: how to say that a sample came with it,
// what to try against it, and how specific a cause it is.
//
// Causes show in more than one covariate: a throttled thread is also switched off involuntarily, a
// page read from disk is also a wait. Where several covariates mark the same slow samples, the one
// whose only reading is the cause itself is named before those that follow from many causes. That
// order is the order of the table in the .cc file; docs/findings.md explains it.
#pragma once

#include <string>
#include <string_view>

namespace vivace::analyze {

/// 0 is the most specific. Names that are not known (a worker may send any) stand after the causes
/// that the kernel itself counts and before the symptoms.
int specificity(std::string_view name);
/// After every covariate of the table.
int least_specificity();
/// Whether it times a fixed piece of work between the samples.
bool is_probe(std::string_view name);

/// "an involuntary context switch", "more than 50.1 us of spin-probe time": what a sample came with
/// whose value is above `threshold`.
std::string exposure_phrase(std::string_view name, double threshold);

/// The next step against it.
std::string advice_against(std::string_view name);

}  // namespace vivace::analyze
