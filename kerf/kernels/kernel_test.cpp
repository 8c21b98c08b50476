// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kerf/api/error.h"
#include "kerf/core/random/random.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

using Json = nlohmann::json;

std::unique_ptr<Kernel> make(const std::string& name, const Params& params) {
  return find_kernel(name).make(params);
}

/// The input formula of the reference values.
Matrix<double> test_rows(Index seed, Index n, Index d) {
  Matrix<double> x(n, d);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < d; ++j)
      x(i, j) =
          static_cast<double>((i * 17 + j * 23 + seed * 41 + (i * j) % 13) % 101) / 101.0 - 0.5;
  return x;
}

Matrix<double> gaussian_rows(std::uint64_t seed, Index n, Index d) {
  Matrix<double> x(n, d);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(n * d)});
  return x;
}

Matrix<double> gram(const Kernel& kernel, const Matrix<double>& x, const Matrix<double>& y) {
  Matrix<double> out(x.rows(), y.rows());
  kernel.gram(x.view(), y.view(), out.view());
  return out;
}

/// A file of ../shared/reference, or null where that folder is absent.
Json reference(const std::string& file) {
  const char* shared = std::getenv("KERF_SHARED");
  const std::string folder = shared != nullptr ? shared : KERF_SOURCE_DIR "/../shared";
  std::ifstream in(folder + "/reference/" + file);
  return in ? Json::parse(in) : Json();
}

struct Named {
  const char* label;  // as in exact_kernels.json
  const char* kernel;
  Params params;
  double golden_0_3, golden_4_1;  // two entries of its matrix
};

const std::vector<Named>& reference_kernels() {
  static const std::vector<Named> all = {
      {"nngp_depth_1",
       "nngp",
       {{"depth", "1"}, {"bias", "0"}},
       0.3442271866972241,
       0.055872229578642636},
      {"ntk_depth_1",
       "ntk",
       {{"depth", "1"}, {"bias", "0"}},
       0.6670714979548196,
       -0.039950246215371625},
      {"nngp_depth_2",
       "nngp",
       {{"depth", "2"}, {"bias", "0"}},
       0.3444768465198637,
       0.2075727690761471},
      {"ntk_depth_2",
       "ntk",
       {{"depth", "2"}, {"bias", "0"}},
       0.9714432325890723,
       0.18633032705553687},
      {"nngp_depth_3",
       "nngp",
       {{"depth", "3"}, {"bias", "0"}},
       0.3447116482777023,
       0.29489398632779534},
      {"ntk_depth_3",
       "ntk",
       {{"depth", "3"}, {"bias", "0"}},
       1.2589357087613446,
       0.41051508982606183},
      {"nngp_depth_5",
       "nngp",
       {{"depth", "5"}, {"bias", "0"}},
       0.34514122468271563,
       0.39080010175280055},
      {"ntk_depth_5",
       "ntk",
       {{"depth", "5"}, {"bias", "0"}},
       1.7896554812356549,
       0.8406712873658544},
      {"nngp_depth_16",
       "nngp",
       {{"depth", "16"}, {"bias", "0"}},
       0.34681986336112064,
       0.519259237685647},
      {"ntk_depth_16",
       "ntk",
       {{"depth", "16"}, {"bias", "0"}},
       4.008524647129673,
       2.860882803272053},
      {"nngp_depth_1_bias_0.5",
       "nngp",
       {{"depth", "1"}, {"bias", "0.5"}},
       0.594166678777011,
       0.23530056474206318},
      {"ntk_depth_1_bias_2.0",
       "ntk",
       {{"depth", "1"}, {"bias", "2"}},
       8.611783385937281,
       6.783621970314467},
      {"nngp_depth_3_bias_2.0",
       "nngp",
       {{"depth", "3"}, {"bias", "2"}},
       4.344189200949106,
       3.982271557933372},
      {"ntk_depth_1_bias_0.5",
       "ntk",
       {{"depth", "1"}, {"bias", "0.5"}},
       1.1601828972785433,
       0.21264213837492396},
      {"nngp_depth_1_bias_2.0",
       "nngp",
       {{"depth", "1"}, {"bias", "2"}},
       4.344038659389776,
       3.815932489838906},
      {"nngp_depth_3_bias_0.5",
       "nngp",
       {{"depth", "3"}, {"bias", "0.5"}},
       0.5945491255139135,
       0.4818403779026902},
      {"ntk_depth_3_bias_0.5",
       "ntk",
       {{"depth", "3"}, {"bias", "0.5"}},
       2.21784514723787,
       0.8196156394214605},
      {"ntk_depth_3_bias_2.0",
       "ntk",
       {{"depth", "3"}, {"bias", "2"}},
       16.927815912349402,
       11.790995184475005},
      {"arccos_order_0",
       "arccos",
       {{"order", "0"}, {"bias", "0"}},
       0.9386062897438494,
       0.3225757200147643},
      {"arccos_order_1",
       "arccos",
       {{"order", "1"}, {"bias", "0"}},
       0.3442271866972241,
       0.055872229578642636},
      {"gaussian_sigma_0.7",
       "gaussian",
       {{"bandwidth", "0.7"}},
       0.986586692780476,
       0.17314435747899037},
      {"laplacian_sigma_0.9",
       "laplacian",
       {{"bandwidth", "0.9"}},
       0.7937211290316701,
       0.07876755343032377},
      {"laplacian_l2_sigma_0.9",
       "laplacian-l2",
       {{"bandwidth", "0.9"}},
       0.8800106823512073,
       0.2330278815245378},
      {"cauchy_sigma_1.3",
       "cauchy",
       {{"bandwidth", "1.3"}},
       0.992213161501692,
       0.43304448633538556},
  };
  return all;
}

/// 1e-12 relative.
void expect_agrees(double value, double expected, const std::string& where) {
  EXPECT_NEAR(value, expected, 1e-12 * std::abs(expected)) << where;
}

TEST(Kernels, GiveTheGoldenValues) {
  const auto x = test_rows(1, 6, 5), y = test_rows(2, 4, 5);
  for (const auto& [label, name, params, golden_0_3, golden_4_1] : reference_kernels()) {
    const auto kernel = make(name, params);
    expect_agrees((*kernel)(x.row(0), y.row(3)), golden_0_3, label);
    expect_agrees((*kernel)(x.row(4), y.row(1)), golden_4_1, label);
  }
}

TEST(Kernels, AgreeWithTheReferenceFile) {
  const Json file = reference("exact_kernels.json");
  if (file.is_null()) GTEST_SKIP() << "../shared/reference is absent";
  const auto x = test_rows(1, 6, 5), y = test_rows(2, 4, 5);
  const Json& values = file["vectors"]["values"];
  for (const Named& named : reference_kernels()) {
    const auto k = gram(*make(named.kernel, named.params), x, y);
    const Json& expected = values.at(named.label);
    for (Index i = 0; i < k.rows(); ++i)
      for (Index j = 0; j < k.cols(); ++j) expect_agrees(k(i, j), expected[i][j], named.label);
  }
  // All of the file's matrices were met: the list plus the values of close rows.
  EXPECT_EQ(values.size(), reference_kernels().size() + 1);
}

TEST(Kernels, AreAccurateForNearlyEqualRows) {
  // k(x_i, c_i), c_i = x_i (1 + 1e-3) + 1e-7 y_i; values as in exact_kernels.json.
  const auto x = test_rows(1, 6, 5), y = test_rows(2, 4, 5);
  const double expected[] = {1.440219145475791, 1.4080333210427618, 1.6906408451481816,
                             2.050180500208321};
  const auto kernel = make("ntk", {{"depth", "3"}, {"bias", "0"}});
  for (Index i = 0; i < 4; ++i) {
    std::vector<double> close(5);
    for (std::size_t j = 0; j < 5; ++j) close[j] = x.row(i)[j] * (1 + 1e-3) + 1e-7 * y.row(i)[j];
    expect_agrees((*kernel)(x.row(i), close), expected[i], "close rows");
  }
}

TEST(Kernels, AgreeWithOtherPeoplesCode) {
  const Json ntk = reference("thirdparty_ntk.json"), sklearn = reference("thirdparty_sklearn.json");
  if (ntk.is_null() || sklearn.is_null()) GTEST_SKIP() << "../shared/reference is absent";
  Matrix<double> x(5, 3);
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 3; ++j) x(i, j) = ntk["X"][i][j];
  const auto compare = [&](const char* name, const Params& params, double scale, const Json& theirs,
                           const std::string& label) {
    const auto k = gram(*make(name, params), x, x);
    for (Index i = 0; i < 5; ++i)
      for (Index j = 0; j < 5; ++j) {
        const double value = theirs[i][j];
        // Their own rounding, acos and all: 1e-12 of the size of the rows.
        EXPECT_NEAR(scale * k(i, j), value, 1e-12 * std::sqrt(k(i, i) * k(j, j))) << label;
      }
  };
  for (int depth = 1; depth <= 4; ++depth) {
    const std::string d = std::to_string(depth);
    const Params params = {{"depth", d}, {"bias", "0"}};
    const Json& leoyu = ntk["leoyu"];  // no factor 2 per layer; "fix" counts the frozen layers
    compare("ntk", params, std::pow(2, -depth), leoyu["dep" + d + "_fix0"], "leoyu " + d);
    compare("nngp", params, std::pow(2, -depth), leoyu["dep" + d + "_fix" + d], "leoyu nngp " + d);
    compare("ntk", params, 1.0 / (depth + 1), ntk["skntk"]["depth" + d + "_bias0.0"], "skntk " + d);
  }
  compare("gaussian", {{"bandwidth", "1"}}, 1, sklearn["rbf_gamma0.5"], "sklearn rbf");
  compare("laplacian", {{"bandwidth", "2"}}, 1, sklearn["laplacian_l1_gamma0.5"], "sklearn l1");
}

TEST(Kernels, AreSymmetricAndPositiveSemiDefinite) {
  const auto x = gaussian_rows(5, 40, 6);
  std::vector<Named> all = reference_kernels();
  all.push_back({"matern32", "matern32", {{"bandwidth", "0.9"}}, 0, 0});
  all.push_back({"matern52", "matern52", {{"bandwidth", "0.9"}}, 0, 0});
  all.push_back({"linear", "linear", {}, 0, 0});
  for (const Named& named : all) {
    auto k = gram(*make(named.kernel, named.params), x, x);
    for (Index i = 0; i < k.rows(); ++i)
      for (Index j = 0; j < i; ++j) EXPECT_EQ(k(i, j), k(j, i)) << named.label;
    std::vector<double> eigenvalues(40);
    blas::symmetric_eigen(k.view(), eigenvalues);
    EXPECT_GE(eigenvalues.front(), -1e-13 * eigenvalues.back()) << named.label;
  }
}

// k = 2^(1-nu)/Gamma(nu) t^nu K_nu(t), t = sqrt(2 nu) |x-y|/s, with the Bessel function of the
// standard library: nothing of the closed forms.  laplacian-l2 is the one of smoothness 1/2.
TEST(Kernels, MaternIsWhatBesselFunctionsSay) {
  const auto x = gaussian_rows(7, 12, 3);
  const double bandwidth = 0.8;
  for (const auto& [name, nu] :
       {std::pair("laplacian-l2", 0.5), {"matern32", 1.5}, {"matern52", 2.5}}) {
    const auto k = gram(*make(name, {{"bandwidth", "0.8"}}), x, x);
    for (Index i = 0; i < 12; ++i)
      for (Index j = 0; j < i; ++j) {
        double square = 0;
        for (Index c = 0; c < 3; ++c) square += std::pow(x(i, c) - x(j, c), 2);
        const double t = std::sqrt(2 * nu * square) / bandwidth;
        const double exact =
            std::pow(2, 1 - nu) / std::tgamma(nu) * std::pow(t, nu) * std::cyl_bessel_k(nu, t);
        expect_agrees(k(i, j), exact, name);
      }
  }
}

// With a distance h the kernel is 1 - r^2/2 and 1 - r^2/6 up to O(r^3), O(r^4): a distance that is
// rounded to zero, or a factor that is, would not show it.
TEST(Kernels, MaternIsAccurateForNearlyEqualRows) {
  for (const double h : {1e-3, 1e-5, 1e-7}) {
    const std::vector<double> x = {100, 1}, y = {100, 1 + h};
    const double d = y[1] - x[1], r3 = std::sqrt(3.0) * d, r5 = std::sqrt(5.0) * d;
    const double fall3 = 1 - (*make("matern32", {{"bandwidth", "1"}}))(x, y);
    const double fall5 = 1 - (*make("matern52", {{"bandwidth", "1"}}))(x, y);
    EXPECT_NEAR(fall3, r3 * r3 / 2 - r3 * r3 * r3 / 3, 4e-16 + 2 * std::pow(r3, 4));
    EXPECT_NEAR(fall5, r5 * r5 / 6, 4e-16 + 2 * std::pow(r5, 4));
    EXPECT_GE(fall3, 0);
    EXPECT_GE(fall5, 0);
  }
}

TEST(Kernels, LinearIsTheInnerProduct) {
  const auto x = gaussian_rows(8, 6, 4), y = gaussian_rows(9, 3, 4);
  const auto k = gram(*make("linear", {}), x, y);
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 3; ++j) {
      double dot = 0;
      for (Index c = 0; c < 4; ++c) dot += x(i, c) * y(j, c);
      EXPECT_NEAR(k(i, j), dot, 1e-14);
    }
  EXPECT_THROW(make("linear", {{"bandwidth", "1"}}), Error);
}

TEST(Kernels, HaveTheirDiagonalValues) {
  const auto x = gaussian_rows(6, 5, 7);
  for (const char* name :
       {"gaussian", "laplacian", "laplacian-l2", "cauchy", "matern32", "matern52"})
    for (Index i = 0; i < 5; ++i)
      EXPECT_EQ((*make(name, {{"bandwidth", "0.3"}}))(x.row(i), x.row(i)), 1) << name;
  for (const double bias : {0.0, 1.5})
    for (Index i = 0; i < 5; ++i) {
      double square = bias * bias;
      for (const double value : x.row(i)) square += value * value;
      const std::string b = format_number(bias);
      EXPECT_EQ((*make("arccos", {{"order", "0"}, {"bias", b}}))(x.row(i), x.row(i)), 1);
      for (const int depth : {1, 2, 7, 64}) {
        const Params params = {{"depth", std::to_string(depth)}, {"bias", b}};
        expect_agrees((*make("ntk", params))(x.row(i), x.row(i)), (depth + 1) * square, "ntk");
        expect_agrees((*make("nngp", params))(x.row(i), x.row(i)), square, "nngp");
      }
    }
}

TEST(KernelRegistry, RefusesWhatMakesNoSense) {
  const auto message = [](const std::string& name, const Params& params) -> std::string {
    try {
      make(name, params);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "no error";
  };
  using testing::HasSubstr;
  EXPECT_THAT(message("gaussian", {}), HasSubstr("bandwidth = auto"));
  EXPECT_THAT(message("ntk", {{"bias", "auto"}}), HasSubstr("a number"));
  EXPECT_THAT(message("ntk", {{"depth", "65"}}), HasSubstr("between 1 and 64"));
  EXPECT_THAT(message("ntk", {{"depth", "0"}}), HasSubstr("between 1 and 64"));
  EXPECT_THAT(message("gaussian", {{"bandwidth", "0"}}), HasSubstr("between"));
  EXPECT_THAT(message("arccos", {{"order", "2"}}), HasSubstr("between 0 and 1"));
  EXPECT_THAT(message("gausian", {}), HasSubstr("did you mean 'gaussian'"));
  const auto kernel = make("gaussian", {{"bandwidth", "1"}});
  EXPECT_THROW((*kernel)(std::vector<double>{1, 2}, std::vector<double>{1}), Error);
}

}  // namespace
}  // namespace kerf::detail
