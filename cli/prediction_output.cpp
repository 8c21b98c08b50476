// SPDX-License-Identifier: Apache-2.0
#include "cli/prediction_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

namespace kerf::cli {
namespace {

/// A cell of a table as spreadsheets read it.
std::string table_cell(const std::string& text, char separator) {
  const std::string special = std::string("\"\r\n") + separator;
  const bool plain = text.find_first_of(special) == std::string::npos &&
                     (text.empty() || (text.front() != ' ' && text.back() != ' '));
  if (plain) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// A line per row: on standard output, or in a file that appears when whole.  On a terminal words are
/// as a person may see them.
class TextOutput final : public PredictionOutput {
 public:
  TextOutput(const Meaning& meaning, const std::string& path)
      : meaning_(meaning),
        seen_(path.empty() && ::isatty(STDOUT_FILENO) != 0),
        // One column by itself needs no marks around words: each line is one.
        table_(meaning.has_ids || meaning.titled || path.ends_with(".csv") ||
               path.ends_with(".tsv")),
        separator_(path.ends_with(".tsv") ? '\t' : ',') {
    if (!path.empty()) file_ = std::make_unique<AtomicFile>(path);
    if (meaning.titled) write_titles();
  }
  void add(const Matrix<double>& values, std::span<const std::string> ids) override {
    fmt::memory_buffer lines;
    const auto best = meaning_.classes ? best_class(values) : std::vector<Index>();
    for (Index i = 0; i < values.rows(); ++i) {
      if (meaning_.has_ids) {
        lines.append(word(ids[i]));
        lines.push_back(separator_);
      }
      if (meaning_.classes)
        lines.append(word(meaning_.name_of(best[i])));
      else if (meaning_.sets)
        lines.append(
            word(fmt::to_string(fmt::join(meaning_.set_of(values.row(i)), kBetweenClasses))));
      else
        fmt::format_to(std::back_inserter(lines), "{}",
                       fmt::join(values.row(i), std::string_view(&separator_, 1)));
      lines.push_back('\n');
    }
    write({lines.data(), lines.size()});
  }
  void finish() override {
    if (file_) file_->commit();
  }

 private:
  std::string word(const std::string& text) const {
    const std::string shown = seen_ ? printable(text) : text;
    return table_ ? table_cell(shown, separator_) : shown;
  }
  void write_titles() {
    std::vector<std::string> titles;
    if (meaning_.has_ids) titles.push_back(word(meaning_.id_name));
    for (const std::string& name : meaning_.columns) titles.push_back(word(name));
    write(fmt::format("{}\n", fmt::join(titles, std::string_view(&separator_, 1))));
  }
  void write(std::string_view text) {
    if (file_) return file_->write(text.data(), text.size());
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail_output();
  }

  Meaning meaning_;
  bool seen_, table_;
  char separator_;
  std::unique_ptr<AtomicFile> file_;
};

/// npy, with predicted classes as a column of numbers: it has no text.
class ArrayOutput final : public PredictionOutput {
 public:
  ArrayOutput(const Meaning& meaning, const std::string& path)
      : classes_(meaning.classes),
        writer_(path, meaning.sets ? meaning.model.outputs() : std::ssize(meaning.columns),
                NpyWriter::Type::float64) {}
  void add(const Matrix<double>& values, std::span<const std::string>) override {
    if (!classes_) return writer_.append(values.view());
    Matrix<double> column(values.rows(), 1);
    std::ranges::copy(best_class(values), column.data());
    writer_.append(column.view());
  }
  void finish() override { writer_.commit(); }

 private:
  bool classes_;
  NpyWriter writer_;
};

/// One object on standard output must be whole: lists that are printed at the end.
class JsonOutput final : public PredictionOutput {
 public:
  JsonOutput(const Meaning& meaning, Json& json) : meaning_(meaning), json_(json) {
    if (meaning.titled) json_["columns"] = meaning.columns;
    if (meaning.has_ids) json_["ids"] = Json::array();
    json_["predictions"] = Json::array();
  }
  void add(const Matrix<double>& values, std::span<const std::string> ids) override {
    for (const std::string& id : ids) json_["ids"].push_back(id);
    Json& list = json_["predictions"];
    if (meaning_.classes) {
      for (const Index best : best_class(values)) list.push_back(meaning_.name_of(best));
      return;
    }
    for (Index i = 0; i < values.rows(); ++i) {
      const auto row = values.row(i);
      if (meaning_.sets)
        list.push_back(meaning_.set_of(row));
      else if (row.size() == 1)
        list.push_back(row[0]);
      else
        list.push_back(std::vector<double>(row.begin(), row.end()));
    }
  }

 private:
  Meaning meaning_;
  Json& json_;
};

}  // namespace

std::vector<std::string> Meaning::set_of(std::span<const double> members) const {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < members.size(); ++c)
    if (members[c] != 0) names.push_back(model.classes[c]);
  return names;
}

void check_prediction_file(const std::string& path, bool words) {
  const std::string ending = std::filesystem::path(path).extension().string();
  for (const char* other :
       {".gz", ".xz", ".zst", ".bz2", ".zip", ".npz", ".json", ".parquet", ".feather", ".xlsx"})
    if (ending == other)
      throw Error(
          ErrorKind::usage,
          fmt::format("-o {}: predictions are written as .csv, .tsv, .npy or lines of text{}", path,
                      ending == ".json" ? "; --json prints JSON" : ""));
  if (words && ending == ".npy")
    throw Error(
        ErrorKind::usage,
        fmt::format("-o {}: npy holds numbers only; --id and --names are for text, as in -o "
                    "predictions.csv",
                    path));
}

std::unique_ptr<PredictionOutput> open_predictions(const Meaning& meaning,
                                                   const std::string& path) {
  if (path.ends_with(".npy")) return std::make_unique<ArrayOutput>(meaning, path);
  return std::make_unique<TextOutput>(meaning, path);
}

std::unique_ptr<PredictionOutput> json_predictions(const Meaning& meaning, Json& json) {
  return std::make_unique<JsonOutput>(meaning, json);
}

}  // namespace kerf::cli
