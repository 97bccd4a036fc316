// The words for a comparison that table, Markdown and JUnit share. Changes are in percent of A: a
// plus is slower.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "result/document.h"

namespace vivace::report {

bool is_stage(const result::ComparedQuantity& quantity);

/// One quantity as a row.
struct ComparedText {
  std::string name;  ///< "latency", "P99", "decode"
  std::string a;     ///< "20.9 ms", in one unit with b
  std::string b;
  std::string change;    ///< "+5.2%", "12.3 x"
  std::string interval;  ///< "+3.9% to +6.4%", "above +3.9%", "none"
  std::string verdict;
};
ComparedText compared_text(const result::ComparedQuantity& quantity, bool unicode);

/// "B takes 5.2% more time than A (95% interval +3.9% to +6.4%, margin 2%)".
std::string sentence_of(const result::Comparison& comparison,
                        const result::ComparedQuantity& quantity, bool unicode);

/// The whole verdict with its sentence, where the change lies and what to do next, as far as there
/// is something to say: "verdict", "where", "next".
std::vector<std::pair<std::string, std::string>> conclusion(const result::Comparison& comparison,
                                                            bool unicode);

/// Labels and texts of both sides of the document's comparison, how they were compared, and the
/// head that every result has.
std::vector<std::pair<std::string, std::string>> comparison_facts(
    const result::Document& document, const result::Comparison& comparison, int name_width,
    bool unicode);

/// What the columns of a comparison mean.
std::string_view reading_aid();

/// Why each inconclusive quantity is so, and what was not compared at all.
std::vector<std::pair<std::string, std::string>> open_points(const result::Comparison& comparison,
                                                             bool unicode);

}  // namespace vivace::report
