// kerf kernel: exact kernel matrices, as an npy or CSV file.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/matrix_output.h"

namespace kerf::cli {
namespace {

struct KernelArguments {
  std::vector<std::string> data, against;
  std::string kernel = "ntk", output, precision = "single";
  Params data_options, scale_options, kernel_options;
};

/// Computes and writes blocks of rows, so that the matrix need not fit in memory.
template <class T>
void write_gram(const Kernel& kernel, const RowsView& x, const RowsView& y, const std::string& path,
                Index memory_limit, const Progress& progress) {
  const Gram<T> gram(kernel, x, y);
  const Index row_bytes = std::max<Index>(1, gram.cols() * static_cast<Index>(sizeof(T)));
  const Index block =
      std::clamp<Index>((Index{256} << 20) / row_bytes / kGramTile * kGramTile, kGramTile, 1 << 20);
  const Index rows = std::min(block, gram.rows());
  require_memory(rows * row_bytes + gram.memory(), memory_limit,
                 "computing the kernel matrix by blocks of rows", "raise --memory");
  MatrixOutput writer(path, gram.cols(),
                      sizeof(T) == 4 ? NpyWriter::Type::float32 : NpyWriter::Type::float64);
  Matrix<T> out;
  const Progress step = expecting(progress, {{"kernel"}});
  for (Index begin = 0; begin < gram.rows(); begin += block) {
    const Index end = std::min(begin + block, gram.rows());
    out.resize(end - begin, gram.cols());
    gram.compute(begin, end, out.view());
    writer.append(out.view());
    report(step, "kernel", end, gram.rows());
  }
  writer.commit();
}

void run_kernel(const KernelArguments& arguments, const Common& common) {
  const KernelEntry& entry = find_kernel(arguments.kernel);
  if (arguments.precision != "single" && arguments.precision != "double")
    throw Error(ErrorKind::usage,
                fmt::format("--precision is single or double, not '{}'", arguments.precision));
  auto options = read_options<FitOptions>(arguments.scale_options, "kerf kernel");
  if (!arguments.scale_options.contains("scale")) options.scale = ScaleKind::none;
  MatrixOutput::check(arguments.output);
  Files()
      .reads(arguments.data)
      .reads(arguments.against)
      .reads(arguments.data_options)
      .reads(arguments.kernel_options)
      .writes(arguments.output)
      .check();
  const Progress progress = terminal_progress(common.quiet, common.verbose);
  const auto data_options = read_data_options(arguments.data_options, "kerf kernel", common);
  Dataset data = open_dataset(arguments.data, data_options,
                              rng::Key{static_cast<std::uint64_t>(options.seed)}, progress);
  const bool wide = arguments.precision == "double" && !data.summary.is_sparse;
  if (wide) data.keep_double();
  settle_columns(data, options.scale, ignores_offsets(entry, arguments.kernel_options));
  const Scaling scaling = make_scaling(options.scale, data.summary);
  const Params params = resolve_automatic(
      entry, rows_as_they_are(entry.options(), arguments.kernel_options), data.summary, scaling);
  const auto kernel = entry.make(params);
  const std::string advice = "take fewer --rows, or raise --memory";
  RowBlock x = read_all(*data.source, common.memory_limit(), advice), y;
  scaling.apply(x);
  if (!arguments.against.empty()) {
    const auto against =
        open_for_model(arguments.against, data.encoding, options_beside(data), io::Targets::ignore);
    y = read_all(*against, common.memory_limit(), advice);
    scaling.apply(y);
  }
  const RowsView right = arguments.against.empty() ? x.x() : y.x();
  if (arguments.precision == "single")
    write_gram<float>(*kernel, x.x(), right, arguments.output, common.memory_limit(), progress);
  else
    write_gram<double>(*kernel, x.x(), right, arguments.output, common.memory_limit(), progress);
  clear_progress();
  if (common.json)
    print_json({{"kernel", arguments.kernel},
                {"options", options_json(params)},
                {"rows", x.rows()},
                {"columns", right.rows()},
                {"row_precision", wide ? "double" : "single"},
                {"output", arguments.output}});
  else if (!common.quiet)
    fmt::print("{} x {} values of {} in {}\n", with_commas(x.rows()), with_commas(right.rows()),
               arguments.kernel, arguments.output);
  if (arguments.precision == "double" && !wide && !common.json && !common.quiet)
    fmt::print("sparse rows are in single precision: their values were rounded to 24 bits\n");
  const std::string note = input_note(arguments.data_options, data.encoding);
  if (!note.empty() && !common.json && !common.quiet) fmt::print("{}\n", note);
}

}  // namespace

void add_kernel(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto arguments = std::make_shared<KernelArguments>();
  CLI::App* command = add_command(app, common, "kernel", "write an exact kernel matrix (npy, csv)",
                                  "  kerf kernel data.csv --kernel ntk --depth 3 -o K.npy\n"
                                  "  kerf kernel test.csv --against train.csv --kernel gaussian "
                                  "--bandwidth 2 --precision double -o K.npy");
  add_option(*command, "DATA", arguments->data, "files; the target, if rows have one, is left out")
      .required();
  add_option(*command, "--against", arguments->against,
             "rows for the matrix's columns (default: DATA itself)")
      .type_name("FILE...");
  add_option(*command, "-o,--out", arguments->output, "npy file, or text if it ends in .csv")
      .output_file()
      .required();
  add_option(*command, "--kernel", arguments->kernel, "see `kerf kernels` [ntk]").type_name("NAME");
  add_option(*command, "--precision", arguments->precision,
             "of arithmetic and output, and of dense rows; sparse rows are single [single]")
      .type_name("single|double");
  add_described(*command, "Data", list_options<DataOptions>(), arguments->data_options);
  add_described(*command, "Kernel",
                with_default(only(list_options<FitOptions>(), {"scale", "seed"}), "scale", "none"),
                arguments->scale_options);
  add_described(*command, "Options of kernels", all_kernel_options(), arguments->kernel_options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_kernel(*arguments, common); }; });
}

}  // namespace kerf::cli
