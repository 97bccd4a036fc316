// What the samples of a result show, as ranked findings: the cause of the tail, unsteadiness, modes
// and what they go with, an asynchronous system. Everything comes from the document alone, so a
// result of another machine or another tool is explained as well as one's own.
#pragma once

#include <vector>

#include "result/document.h"

namespace vivace::analyze {

/// The first cause first. Empty where nothing is to be said: no tail and a steady series.
std::vector<result::Finding> explain(const result::Document& document);

}  // namespace vivace::analyze
