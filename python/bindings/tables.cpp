// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

namespace kerf::python {
namespace {

[[noreturn]] void wrong(const std::string& what) { throw Error(ErrorKind::usage, what); }

/// The numbers of numpy that the library reads where they are; Python makes float64 of others.
io::ElementType type_of(const py::array& array) {
  using enum io::ElementType;
  const py::dtype type = array.dtype();
  const char kind = type.kind();
  const auto size = static_cast<int>(type.itemsize());
  const int power = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
  constexpr io::ElementType kWhole[] = {i8, i16, i32, i64}, kNatural[] = {u8, u16, u32, u64},
                            kReal[] = {f16, f32, f64};
  if (type.byteorder() == '>' || power < 0) wrong("numbers of this type are not read");
  if (kind == 'b') return u8;
  if (kind == 'i') return kWhole[power];
  if (kind == 'u') return kNatural[power];
  if (kind != 'f' || power == 0) wrong("an array holds no numbers");
  return kReal[power - 1];
}

const char* data_of(const py::array& array) { return static_cast<const char*>(array.data()); }

void require_contiguous(const py::array& array) {
  if (array.ndim() != 1 || (array.flags() & py::array::c_style) == 0)
    wrong("codes and parts of sparse rows are arrays of one dimension");
}

io::SparseArray sparse_of(const py::tuple& part, Index rows) {
  using enum io::ElementType;
  const auto values = part[0].cast<py::array>(), columns = part[1].cast<py::array>(),
             offsets = part[2].cast<py::array>();
  for (const auto& array : {values, columns, offsets}) require_contiguous(array);
  io::SparseArray sparse{data_of(values),  type_of(values),      data_of(columns),
                         data_of(offsets), type_of(columns),     type_of(offsets),
                         values.size(),    part[3].cast<Index>()};
  const auto is_whole = [](io::ElementType type) { return type == i32 || type == i64; };
  if ((sparse.value_type != f32 && sparse.value_type != f64) || !is_whole(sparse.column_type) ||
      !is_whole(sparse.offset_type) || columns.size() != values.size() ||
      offsets.size() != rows + 1)
    wrong("sparse rows are (values, columns, offsets, number of columns) that fit each other");
  return sparse;
}

io::ImageArray images_of(const py::array& array) {
  return {data_of(array),   type_of(array),   {array.shape(1), array.shape(2), array.shape(3)},
          array.strides(0), array.strides(1), array.strides(2),
          array.strides(3)};
}

/// Encoded rows as the module takes them: an array, or the parts of sparse rows.
class EncodedRows {
 public:
  EncodedRows(Index rows, const Encoding& encoding)
      : cols_(encoding.inputs),
        wide_(encoding.wide),
        is_sparse_(encoding.kind == SourceKind::sparse) {
    if (!is_sparse_ && wide_) double_ = new_array<double>(rows, cols_);
    if (!is_sparse_ && !wide_) single_ = new_array<float>(rows, cols_);
    to_double_ = wide_ && !is_sparse_ ? double_.mutable_data() : nullptr;
    to_single_ = wide_ || is_sparse_ ? nullptr : single_.mutable_data();
  }
  /// Needs no GIL.
  void add(const RowBlock& block) {
    const Index count = block.rows() * cols_, at = block.first_row * cols_;
    if (to_double_ != nullptr) std::copy_n(block.wide.data(), count, to_double_ + at);
    if (to_single_ != nullptr) std::copy_n(block.dense.data(), count, to_single_ + at);
    for (Index i = 0; is_sparse_ && i < block.rows(); ++i) {
      const SparseRow row = block.sparse.view().row(i);
      for (std::size_t k = 0; k < row.values.size(); ++k)
        sparse_.push(row.columns[k], row.values[k]);
      sparse_.end_row();
    }
  }
  py::object take() const {
    if (!is_sparse_) return wide_ ? py::object(double_) : py::object(single_);
    const auto array = [](const auto& v) {
      return py::array_t<typename std::decay_t<decltype(v)>::value_type>(std::ssize(v), v.data());
    };
    return py::make_tuple(array(sparse_.values), array(sparse_.columns), array(sparse_.offsets),
                          cols_);
  }

 private:
  Index cols_;
  bool wide_, is_sparse_;
  py::array_t<double> double_;
  py::array_t<float> single_;
  double* to_double_;
  float* to_single_;
  CsrMatrix sparse_;
};

/// The rows of a table as a model has them, and what was not as in training.
py::tuple encode(const Encoding& encoding, const Table& table, Index rows) {
  EncodedRows out(rows, encoding);
  std::vector<std::string> notes;
  {
    const Released no_gil;
    EncodedSource source(table.open(), encoding, "X", io::Targets::ignore, 0);
    for (RowBlock block; source.next(block);) {
      poll_interrupt();
      out.add(block);
    }
    notes = notes_of(source.counts());
  }
  return py::make_tuple(out.take(), notes);
}

/// One look at all rows.  `centre`: large offsets may leave the columns whatever the scale.
std::unique_ptr<Data> open_table(std::shared_ptr<const Table> table, const Params& options,
                                 const std::string& label_type, bool channels_first,
                                 const std::string& scale, bool centre, std::uint64_t seed,
                                 Index memory, const py::object& callback) {
  auto read = read_options<DataOptions>(options, "data");
  read.memory_limit = memory;
  const auto scale_kind = read_options<FitOptions>({{"scale", scale}}, "fit").scale;
  const Progress progress = progress_to(callback);
  const Released no_gil;
  auto opened = std::make_unique<Data>();
  opened->data = open_dataset(table->open(), read, "X", rng::Key{seed}, progress);
  Dataset& data = opened->data;
  data.encoding.label_type = label_type;
  data.encoding.channels_first = channels_first;
  if (centre) data.centre_large_columns();
  settle_columns(data, scale_kind);
  opened->warnings = data.check_precision();
  data.precision_told = true;
  if (data.summary.is_sparse) opened->warnings = table->lost_digits();
  opened->table = std::move(table);
  return opened;
}

/// Names of the columns that are inputs; None if one has none.
py::object input_names(const Encoding& encoding) {
  py::list names;
  for (const EncodedColumn& column : encoding.columns) {
    if (!column.is_input()) continue;
    if (column.name.empty()) return py::none();
    names.append(column.name);
  }
  return names.empty() ? py::object(py::none()) : py::object(names);
}

/// What each input column holds: "number", "word", or "text" that is a number in some form.
std::vector<std::string> kinds_of(const Encoding& encoding) {
  std::vector<std::string> kinds;
  for (const EncodedColumn& column : encoding.columns)
    if (column.is_input())
      kinds.emplace_back(column.role == Role::category                 ? "word"
                         : column.form.kind == ColumnForm::Kind::plain ? "number"
                                                                       : "text");
  if (encoding.kind != SourceKind::table) kinds.assign(encoding.inputs, "number");
  return kinds;
}

/// Whether rows of float32 can be taken as they are.
bool is_plain(const Encoding& encoding) {
  return !encoding.wide && encoding.missing == Missing::error &&
         std::ranges::all_of(encoding.columns,
                             [](const EncodedColumn& column) {
                               return (column.role == Role::number || !column.is_input()) &&
                                      column.offset == 0;
                             }) &&
         encoding.na.empty();
}

}  // namespace

Table::Table(Index rows, const py::list& parts, std::vector<std::string> names, py::object targets,
             std::vector<std::string> classes, py::object weights) {
  view_.rows = rows;
  for (const auto& part : parts) add_part(part);
  view_.names = std::move(names);
  view_.targets = take_targets(targets);
  view_.classes = std::move(classes);
  view_.weights = take_weights(weights);
  keep_.append(parts);
  keep_.append(targets);
  keep_.append(weights);
}

void Table::add_part(py::handle part) {
  if (py::isinstance<py::tuple>(part)) {
    const auto tuple = py::reinterpret_borrow<py::tuple>(part);
    if (!py::isinstance<py::str>(tuple[0])) {
      view_.sparse = sparse_of(tuple, view_.rows);
      return;
    }
    add_column(tuple);
    return;
  }
  const auto array = part.cast<py::array>();
  if (array.ndim() != 2 && array.ndim() != 4) wrong("an array has two dimensions, or four");
  if (array.shape(0) != view_.rows) wrong("parts of a table differ in their rows");
  if (array.ndim() == 4)
    view_.images = images_of(array);
  else
    view_.parts.emplace_back(io::NumberArray{data_of(array), type_of(array), array.shape(1),
                                             array.strides(0), array.strides(1)});
}

/// ("words", codes, words, whether they stay words) or ("moments", microseconds, whether in UTC)
void Table::add_column(const py::tuple& part) {
  const auto check = [&](const py::array& column) {
    if (column.size() != view_.rows) wrong("a column has another number of rows");
    keep_.append(column);
    return static_cast<std::size_t>(column.size());
  };
  if (part[0].cast<std::string>() == "moments") {
    const auto micros = part[1].cast<py::array_t<std::int64_t, py::array::c_style>>();
    view_.parts.emplace_back(io::MomentArray{{micros.data(), check(micros)}, part[2].cast<bool>()});
    return;
  }
  const auto codes = part[1].cast<py::array_t<std::int32_t, py::array::c_style>>();
  view_.parts.emplace_back(io::WordArray{part[2].cast<std::vector<std::string>>(),
                                         {codes.data(), check(codes)},
                                         part[3].cast<bool>()});
}

std::vector<std::string> Table::lost_digits() const {
  if (!view_.sparse || view_.sparse->value_type == io::ElementType::f32) return {};
  const io::ColumnMoments moments = io::full_columns(*view_.sparse, view_.rows);
  return warn_of_precision(moments.mean, moments.variance, {});
}

void add_tables(py::module_& module) {
  module.def("data_options", [] { return describe(list_options<DataOptions>()); });
  module.def("encode", &encode);
  py::class_<Table, std::shared_ptr<Table>>(module, "Table")
      .def(py::init<Index, const py::list&, std::vector<std::string>, py::object,
                    std::vector<std::string>, py::object>());
  py::class_<Data>(module, "Data")
      .def(py::init(&open_table))
      .def_readonly("warnings", &Data::warnings)
      .def_property_readonly("notes", [](const Data& self) { return self.data.notes; })
      .def_property_readonly("encoding", [](const Data& self) { return self.data.encoding; });
  py::class_<Encoding>(module, "Encoding")
      .def_readonly("inputs", &Encoding::inputs)
      .def_readonly("is_bytes", &Encoding::is_bytes)
      .def_readonly("wide", &Encoding::wide)
      .def_readonly("channels_first", &Encoding::channels_first)
      .def_readonly("label_type", &Encoding::label_type)
      .def_readonly("classes", &Encoding::classes)
      .def_property_readonly("names", &input_names)
      .def_property_readonly("kinds", &kinds_of)
      .def_property_readonly("plain", &is_plain)
      .def_property_readonly("missing", [](const Encoding& self) { return name_of(self.missing); })
      .def_property_readonly("is_sparse",
                             [](const Encoding& self) { return self.kind == SourceKind::sparse; })
      .def_property_readonly(
          "image",
          [](const Encoding& self) {
            const ImageShape& s = self.image;
            return s.present() ? py::object(py::make_tuple(s.height, s.width, s.channels))
                               : py::object(py::none());
          })
      .def("to_json", &Encoding::to_json)
      .def(py::pickle([](const Encoding& self) { return self.to_json(); },
                      [](const std::string& json) { return Encoding::from_json(json); }));
}

}  // namespace kerf::python
