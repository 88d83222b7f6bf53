// The table of `probe`: what each figure is stays readable when the figure is not sure.
#include "report/probe_views.h"

#include <gtest/gtest.h>

namespace {

using namespace kernelcast;

probe::Report with(const probe::Result& r) {
  probe::Report report;
  report.device.name = "a device";
  report.backend = "host";
  report.results.push_back(r);
  return report;
}

probe::Result unstable() {
  probe::Result r;
  r.id = "clock.core_hz";
  r.value = 3e9;
  r.unit = "Hz";
  r.confidence = "unstable";
  r.what = "Clock of a core.";
  r.reason = "the parts of this run do not agree within 5 %";
  return r;
}

TEST(ProbeText, AnUnstableFigureSaysWhatItIsAndWhatIsAgainstIt) {
  EXPECT_NE(report::probe_text(with(unstable()), report::Style(false))
                .find("Clock of a core (the parts of this run do not agree within 5 %)."),
            std::string::npos);
}

TEST(ProbeText, AFigureWithoutValueGivesTheReasonAlone) {
  probe::Result r = unstable();
  r.value.reset();
  r.what = "not measured";
  const std::string text = report::probe_text(with(r), report::Style(false));
  EXPECT_NE(text.find("the parts of this run"), std::string::npos);
  EXPECT_EQ(text.find("not measured"), std::string::npos);
}

TEST(ProbeText, ASureFigureSaysWhatItIs) {
  probe::Result r = unstable();
  r.reason.clear();
  r.confidence = "high";
  const std::string text = report::probe_text(with(r), report::Style(false));
  EXPECT_NE(text.find("Clock of a core."), std::string::npos);
  EXPECT_EQ(text.find("("), std::string::npos);
}

}  // namespace
