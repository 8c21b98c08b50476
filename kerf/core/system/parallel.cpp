// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/system/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "kerf/core/require.h"
#include "kerf/core/system/cgroup.h"
#include "kerf/core/system/interrupt.h"

namespace kerf::detail {
namespace {

constexpr int kMostThreads = 1024;

/// A number of threads from the environment; of a list, as OpenMP allows, the first.
std::optional<int> threads_in(const char* variable, bool is_list) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == 0) return std::nullopt;
  int count = 0;
  const auto [stop, error] = std::from_chars(text, text + std::strlen(text), count);
  if (error != std::errc() || (*stop != 0 && !(is_list && *stop == ',')) || count < 1)
    return std::nullopt;
  return std::min(count, kMostThreads);
}

/// What the environment says, or the cores.
int default_threads() {
  const char* own = std::getenv("KERF_NUM_THREADS");
  const auto count = threads_in("KERF_NUM_THREADS", false);
  KERF_REQUIRE(count || own == nullptr || *own == 0, usage,
               "KERF_NUM_THREADS must be a number from 1 to {}, not '{}'", kMostThreads, own);
  return count ? *count : threads_in("OMP_NUM_THREADS", true).value_or(cores());
}

std::atomic<int> thread_count = 0;  // 0: not set yet
thread_local int own_count = 0;     // 0: thread_count
thread_local bool inside_body = false;

/// One parallel_for: the pieces are handed out in order by a counter.
struct Job {
  Index count, grain;
  const std::function<void(Index, Index)>* body;
  std::atomic<Index> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::exception_ptr error;

  void run() {
    inside_body = true;
    for (Index begin; !failed && (begin = next.fetch_add(grain)) < count;) {
      try {
        poll_interrupt();
        (*body)(begin, std::min(begin + grain, count));
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failed.exchange(true)) error = std::current_exception();
      }
    }
    inside_body = false;
  }
};

/// Looks for `ready` a while before the caller goes to sleep: to wake a sleeping thread takes tens
/// of microseconds, as long as many a job, and the next job often comes at once.
template <class Ready>
void spin_until(const Ready& ready) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::microseconds(50);
  while (!ready() && Clock::now() < end) {
#if defined(__x86_64__)
    for (int i = 0; i < 16; ++i) __builtin_ia32_pause();
#endif
  }
}

class Pool {
 public:
  /// Does the job, with helpers unless they have another one.  Nobody waits for that: the job of another
  /// thread may take long, or wait itself for something that this thread has (Python's lock).
  void run(Job& job, int helpers) {
    const std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn.owns_lock()) return job.run();
    helpers = start_workers(helpers);
    {
      const std::lock_guard lock(mutex_);
      job_ = &job;
      wanted_ = helpers;
    }
    wake_.notify_all();
    job.run();
    std::unique_lock lock(mutex_);
    wanted_ = 0;  // a helper that has not started yet need not
    lock.unlock();
    spin_until([this] { return running_ == 0; });
    lock.lock();
    idle_.wait(lock, [this] { return running_ == 0; });
    job_ = nullptr;
  }

 private:
  /// How many of `count` there are then: a system that gives no more threads is no reason to fail.
  int start_workers(int count) {
    try {
      for (; workers_ < count; ++workers_) std::thread([this] { work(); }).detach();
    } catch (const std::exception&) {
      count = workers_;
    }
    return count;
  }

  void work() {
    std::unique_lock lock(mutex_, std::defer_lock);
    for (;;) {
      spin_until([this] { return wanted_ > 0; });
      lock.lock();
      wake_.wait(lock, [this] { return wanted_ > 0; });
      Job* job = job_;
      --wanted_;
      ++running_;
      lock.unlock();
      job->run();
      lock.lock();
      if (--running_ == 0) idle_.notify_all();
      lock.unlock();
    }
  }

  std::mutex turn_, mutex_;
  std::condition_variable wake_, idle_;
  int workers_ = 0;
  Job* job_ = nullptr;
  // Written under mutex_, read without it while spinning.
  std::atomic<int> wanted_ = 0, running_ = 0;
};

std::atomic<Pool*> current_pool = nullptr;

/// The pool of this process, made when it is first needed and never ended: its threads sleep, and to
/// join them at exit would hang a forked child, which has the pool's memory but not its threads.  Such a
/// child makes a pool of its own.
Pool& pool() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] {
    current_pool = nullptr;
    inside_body = false;
  });
  KERF_REQUIRE(registered == 0, memory, "cannot watch for forks: {}", std::strerror(registered));
  Pool* pool = current_pool;
  if (pool != nullptr) return *pool;
  auto fresh = std::make_unique<Pool>();
  if (current_pool.compare_exchange_strong(pool, fresh.get())) return *fresh.release();
  return *pool;
}

}  // namespace

struct Background::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> work;
  bool busy = false, here = false, running = false, stop = false;
  std::exception_ptr error;
  std::thread thread;

  void loop() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return stop || running; });
      if (stop) return;
      lock.unlock();
      std::exception_ptr thrown;
      try {
        work();
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      error = thrown;
      running = false;
      changed.notify_all();
    }
  }
};

Background::Background() : state_(std::make_unique<State>()) {}

Background::~Background() {
  {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return !state_->running; });
    state_->stop = true;
  }
  state_->changed.notify_all();
  if (state_->thread.joinable()) state_->thread.join();
}

bool Background::busy() const { return state_->busy; }

void Background::start(std::function<void()> work) {
  KERF_REQUIRE(!state_->busy, usage, "background work was started twice");
  const std::lock_guard lock(state_->mutex);
  state_->work = std::move(work);
  state_->busy = true;
  state_->error = nullptr;
  state_->here = threads() == 1;
  if (state_->here) return;
  try {
    if (!state_->thread.joinable()) state_->thread = std::thread([this] { state_->loop(); });
  } catch (const std::exception&) {  // no more threads: wait() does the work
    state_->here = true;
    return;
  }
  state_->running = true;
  state_->changed.notify_all();
}

void Background::wait() {
  if (!state_->busy) return;
  {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return !state_->running; });
  }
  state_->busy = false;
  if (state_->here) return state_->work();
  if (state_->error) std::rethrow_exception(state_->error);
}

int cores() {
  cpu_set_t set;
  const int allowed = sched_getaffinity(0, sizeof set, &set) == 0
                          ? CPU_COUNT(&set)
                          : static_cast<int>(std::thread::hardware_concurrency());
  const int granted = cgroup_cores();  // a container on a machine of many cores
  return std::max(1, granted > 0 ? std::min(allowed, granted) : allowed);
}

int threads() {
  const int count = own_count > 0 ? own_count : thread_count.load();
  if (count > 0) return count;
  static const int all = default_threads();
  return all;
}

namespace {

void check_count(int count) {
  KERF_REQUIRE(count >= 1 && count <= kMostThreads, usage,
               "threads must be between 1 and {}, not {}", kMostThreads, count);
}

}  // namespace

void set_threads(int count) {
  check_count(count);
  thread_count = count;
}

int limit_threads(int count) {
  if (count != 0) check_count(count);
  return std::exchange(own_count, count);
}

void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body) {
  KERF_REQUIRE(grain >= 1, usage, "the grain of parallel_for must be at least 1, not {}", grain);
  const Index pieces = (count + grain - 1) / grain;
  const auto helpers = static_cast<int>(std::min<Index>(threads(), pieces)) - 1;
  if (inside_body || helpers < 1) {
    for (Index begin = 0; begin < count; begin += grain) {
      poll_interrupt();
      body(begin, std::min(begin + grain, count));
    }
    return;
  }
  Job job{.count = count, .grain = grain, .body = &body, .mutex = {}, .error = {}};
  pool().run(job, helpers);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace kerf::detail
