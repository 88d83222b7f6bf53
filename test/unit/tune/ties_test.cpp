// Which configurations are as good as the best, by what is known of a model's errors.
#include "tune/ties.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace kernelcast::tune {
namespace {

TEST(Ties, FollowTheModelsErrorOfRatios) {
  EXPECT_EQ(chance_of_being_faster(1, 1, std::nullopt), 0.5);
  EXPECT_EQ(chance_of_being_faster(1, 1.0001, std::nullopt), 0);
  const auto error = ratio_error_of("ske");
  ASSERT_TRUE(error);
  const double median = std::exp(error->quartile);  // the median error of its ratios
  EXPECT_NEAR(chance_of_being_faster(1, median, error), tie_chance, 1e-9);
  EXPECT_GT(chance_of_being_faster(1, median - 0.01, error), tie_chance);
  EXPECT_LT(chance_of_being_faster(1, median + 0.01, error), tie_chance);
  EXPECT_FALSE(ratio_error_of("sm"));
}

TEST(Ties, ErrorsOfTheLiteraturesModelsAreThoseOfTheTable) {
  std::ifstream table(KERNELCAST_SOURCE_DIR "/validation/README.md");
  std::vector<std::string> models, medians;
  const auto cells = [](const std::string& line) {
    std::vector<std::string> all;
    std::istringstream words(line);
    for (std::string cell; std::getline(words, cell, '|');) {
      const std::size_t first = cell.find_first_not_of(' ');
      all.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') + 1 - first));
    }
    return all;
  };
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with("| score |")) models = cells(line);
    if (line.starts_with("| ratios: median error")) medians = cells(line);
  }
  ASSERT_EQ(models.size(), 7U);
  ASSERT_EQ(medians.size(), models.size());
  for (std::size_t i = 3; i < models.size(); ++i) {  // before them: an empty cell, the score, kernelcast
    const auto error = ratio_error_of(models[i]);
    ASSERT_TRUE(error) << models[i];
    EXPECT_NEAR(std::expm1(error->quartile), std::stod(medians[i]) / 100, 0.01) << models[i];
  }
}

TEST(Ties, OfTheDefaultModelAreThoseOfCheck) {
  const auto error = ratio_error_of("kernelcast");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->quartile, kernelcast_ratio_error.quartile);
  for (const double ratio : {1.01, 1.12, 1.5, 3.0})
    EXPECT_NEAR(chance_of_being_faster(2, 2 * ratio, error), kernelcast_ratio_error.above(1 / ratio, 1), 1e-12);
}

}  // namespace
}  // namespace kernelcast::tune
