# A thin front over CMake presets.  Each target installs the Debian packages it needs.
#
#   make demo     build, train on shipped data, score, leave models and predictions in demo/
#   make test     build and run the core: library, program, Python, documentation, installation, additions
#   make python   build the Python package in build/release/python
#   make test-docs      of these: the commands of README and docs, the examples
#   make test-engines   kerf inside joblib, multiprocessing, concurrent.futures, gunicorn --preload
#   make test-pip       the source distribution in a fresh virtual environment, with PyPI's newest packages (SMALL=1: a few of its tests there)
#   make test-consumer  a project that takes the sources in by FetchContent, compiled and run
#   make test-browser   the HTML reports in headless Chromium
#   make bench    build the benchmarks and run them
#   make format   clang-format all sources          make lint   layers, format, clang-tidy of changed files
#   make fuzz     a minute of each fuzzer
#   make asan     the unit tests under the address and undefined-behaviour sanitizers; make asan-program: the program's too
#   make test-full DATA=DIR   also what needs real data sets
#   make reproduce NAME=all DATA=DIR   the papers' tables and figures (experiments/), into docs/results

.PHONY: all release python demo test test-docs test-engines test-consumer test-pip test-browser test-full bench reproduce asan asan-program tsan fuzz clang format lint clean
all: release

release:
	@tools/install-deps build tests python
	@cmake --preset release >/dev/null
	@cmake --build --preset release

python:
	@tools/install-deps build python
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target _kerf
	@PYTHONPATH=$(CURDIR)/build/release/python /usr/bin/python3 -c "import kerf; print('kerf', kerf.__version__, 'with', len(kerf.maps()), 'feature maps')"
	@echo "use it: PYTHONPATH=$(CURDIR)/build/release/python /usr/bin/python3      (or: pip install .)"

demo:
	@tools/install-deps build tests python
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target kerf_cli
	@tools/demo

test: release
	@ctest --preset release -j2

test-docs: release
	@ctest --preset release -R '^documentation$$'

test-engines: python
	@tools/install-deps engines
	@PYTHONPATH=$(CURDIR)/build/release/python PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider tests/engines

test-pip:
	@tools/install-deps build python
	@KERF_SOURCE=$(CURDIR) $(if $(SMALL),KERF_PIP_TESTS="test_registry.py test_features.py test_partial_fit.py") KERF_MUST=1 PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider tests/pip

test-consumer:
	@tools/install-deps build
	@cmake -S tests/install -B build/consumer -G Ninja -DKERF_SOURCE=$(CURDIR) -DCMAKE_CXX_FLAGS=-O0 -DKERF_SIMD=one >/dev/null
	@cmake --build build/consumer
	@build/consumer/consumer data/iris_train.csv build/consumer/iris.kerf

test-browser: release
	@tools/install-deps browser
	@KERF_PROGRAM=$(CURDIR)/build/release/bin/kerf KERF_MUST=1 PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider tests/cli/test_browser.py

test-full: release
	@KERF_SHARED=$(abspath $(DATA)/..) ctest --preset release -j1

bench:
	@tools/install-deps build bench
	@cmake --preset bench >/dev/null
	@cmake --build --preset bench
	@for program in build/bench/bin/*_bench; do echo "== $$program"; $$program || exit 1; done

reproduce: release
	@tools/install-deps bench
	@tools/reproduce "$(NAME)" "$(DATA)" $(if $(QUICK),--quick) $(OPTIONS)

asan:
	@tools/install-deps build tests
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan --target kerf_tests
	@build/asan/bin/kerf_tests --gtest_brief=1 --gtest_filter='-*Slow*'  # one process: a thousand would take minutes to start

asan-program: asan
	@cmake --build --preset asan --target kerf_cli
	@ctest --preset asan -R '^program$$'

tsan:
	@tools/install-deps build tests
	@cmake --preset tsan >/dev/null
	@cmake --build --preset tsan --target kerf_tests
	@build/tsan/bin/kerf_tests --gtest_filter='*Thread*:*Parallel*:*Background*:*Conformance*:*Trainer*'

fuzz: release
	@tools/install-deps build lint
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz
	@tools/fuzz $(SECONDS)

clang:
	@tools/install-deps build tests lint
	@cmake --preset clang >/dev/null
	@cmake --build --preset clang

format:
	@tools/install-deps lint
	@git ls-files '*.h' '*.cpp' | xargs clang-format -i

lint:
	@tools/install-deps build lint
	@tools/lint

clean:
	@rm -rf build demo
