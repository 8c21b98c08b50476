// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "kerf/core/cgroup.h"
#include "kerf/core/require.h"

namespace kerf {
namespace {

int cores() {
  cpu_set_t set;
  const int allowed = sched_getaffinity(0, sizeof set, &set) == 0
                          ? CPU_COUNT(&set)
                          : static_cast<int>(std::thread::hardware_concurrency());
  const int granted = cgroup_cores();  // a container on a machine of many cores
  return std::max(1, granted > 0 ? std::min(allowed, granted) : allowed);
}

std::atomic<int> thread_count = 0;  // 0: not set yet
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
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (auto& thread : workers_) thread.join();
  }

  void run(Job& job, int helpers) {
    const std::lock_guard one_job_at_a_time(turn_);
    while (static_cast<int>(workers_.size()) < helpers) workers_.emplace_back([this] { work(); });
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
  void work() {
    std::unique_lock lock(mutex_, std::defer_lock);
    for (;;) {
      spin_until([this] { return stop_ || wanted_ > 0; });
      lock.lock();
      wake_.wait(lock, [this] { return stop_ || wanted_ > 0; });
      if (stop_) return;
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
  std::vector<std::thread> workers_;
  Job* job_ = nullptr;
  // Written under mutex_, read without it while spinning.
  std::atomic<int> wanted_ = 0, running_ = 0;
  std::atomic<bool> stop_ = false;
};

Pool& pool() {
  static Pool instance;
  return instance;
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
  if (!state_->thread.joinable()) state_->thread = std::thread([this] { state_->loop(); });
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

int threads() {
  const int count = thread_count.load();
  static const int all = cores();
  return count > 0 ? count : all;
}

void set_threads(int count) {
  KERF_REQUIRE(count >= 1 && count <= 1024, usage, "threads must be between 1 and 1024, not {}",
               count);
  thread_count = count;
}

void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body) {
  KERF_REQUIRE(grain >= 1, usage, "the grain of parallel_for must be at least 1, not {}", grain);
  const Index pieces = (count + grain - 1) / grain;
  const auto helpers = static_cast<int>(std::min<Index>(threads(), pieces)) - 1;
  if (inside_body || helpers < 1) {
    for (Index begin = 0; begin < count; begin += grain)
      body(begin, std::min(begin + grain, count));
    return;
  }
  Job job{.count = count, .grain = grain, .body = &body, .mutex = {}, .error = {}};
  pool().run(job, helpers);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace kerf
