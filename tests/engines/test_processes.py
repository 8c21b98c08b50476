"""Workers of multiprocessing and concurrent.futures: forked after kerf has used its threads, or started afresh."""
import pytest


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_workers_of_multiprocessing_fit_and_predict(script, how):
    assert script(f"""
        import multiprocessing
        before = use()
        model = kerf.KernelRidge(map="arccos", features=64).fit(X, y)
        with multiprocessing.get_context({how!r}).Pool(2) as pool:
            print([r == before for r in [pool.apply(use) for _ in range(3)]])
            there = pool.starmap(predict, [(model, X)] * 4)
        print(all(rows == predict(model, X)[1] and pid != os.getpid() for pid, rows in there))
        with multiprocessing.get_context({how!r}).Pool(2) as pool:  # workers that never touch kerf end, too
            print(pool.map(abs, [-1]))
        print(use() == before)
    """) == "[True, True, True]\nTrue\n[1]\nTrue\n"


@pytest.mark.parametrize("executor", ["ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('fork'))",
                                      "ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('spawn'))", "ThreadPoolExecutor(4)"])
def test_executors_of_concurrent_futures(script, executor):
    assert script(f"""
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
        before = [use(features) for features in (128, 256, 512)]
        with {executor} as pool:
            print(list(pool.map(use, [128, 256, 512] * 2)) == before * 2)
        print(use() == before[2])
    """) == "True\nTrue\n"


def test_a_killed_worker_breaks_the_pool_and_not_the_parent(script):
    assert script("""
        import multiprocessing, signal, threading
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool
        before = use()
        pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork"))
        pid = pool.submit(os.getpid).result()
        long = pool.submit(use, 8192)
        threading.Timer(0.3, os.kill, (pid, signal.SIGKILL)).start()
        try:
            long.result()
            print("ended before it was killed")
        except BrokenProcessPool:
            print("broken")
        pool.shutdown()
        print(use() == before)
    """) == "broken\nTrue\n"


def test_a_fit_that_another_thread_is_in_while_a_worker_is_forked(script):
    """The child has the parent's memory, but none of its threads: locks held by them must not be waited for."""
    assert script("""
        import multiprocessing, threading
        before, stop = use(), threading.Event()
        def busy():
            while not stop.is_set():
                use()
        thread = threading.Thread(target=busy)
        thread.start()
        results = []
        for _ in range(10):
            with multiprocessing.get_context("fork").Pool(1) as pool:
                results.append(pool.apply_async(use).get(30) == before)
        stop.set()
        thread.join()
        print(results)
    """) == f"{[True] * 10}\n"
