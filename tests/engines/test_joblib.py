"""joblib, directly and as scikit-learn's searches use it."""
import pytest


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_a_grid_search_is_the_same_in_parallel(script, backend):
    assert script(f"""
        import joblib
        from sklearn.model_selection import GridSearchCV, cross_val_score
        labels = np.where(y > 0, "up", "down")
        def search(n_jobs):
            grid = {{"bandwidth": [0.5, 2.0], "lambda_": [1e-4, 1e-2]}}
            found = GridSearchCV(kerf.KernelClassifier(map="rff", features=256), grid, cv=3, n_jobs=n_jobs).fit(X, labels)
            return found.best_params_, found.cv_results_["mean_test_score"].tolist(), found.predict(X).tolist()
        alone = search(1)
        with joblib.parallel_backend({backend!r}):
            print(search(2) == alone)
            scores = cross_val_score(kerf.KernelRidge(map="arccos", features=256), X, y, cv=3, n_jobs=2)
        print(scores.tolist() == cross_val_score(kerf.KernelRidge(map="arccos", features=256), X, y, cv=3).tolist(), scores.min() > 0.8)
    """) == "True\nTrue True\n"


def test_workers_share_the_cores(script):
    """joblib tells its processes how many threads each may have; two workers with all cores each would be slower than one."""
    assert script("""
        import joblib
        def there():
            import kerf
            return kerf.threads()
        threads = joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(there)() for _ in range(4))
        print(set(threads) == {max(1, joblib.cpu_count() // 2)}, threads)
    """).startswith("True ")
