"""Every peer predicts what its own library predicts in Python; what is missing is reported, never raised."""

import shutil
import sys

import numpy as np
import pytest
import torch

from repsketch.errors import InputError, RepSketchError
from repsketch_bench import networks, trees
from repsketch_bench.baselines.boosted import booster_nbytes
from repsketch_bench.baselines.graphs import onnx_graph
from repsketch_bench.boosters import close_booster, close_forest, small_booster
from repsketch_bench.compiled import call_rows, compile_library, compiled_engine
from repsketch_bench.engine import Engine, peers_of
from repsketch_bench.runtimes import BUILDERS, build_peers
from repsketch_bench.speed import bench_case, speed_table

needs_gcc = pytest.mark.skipif(not (shutil.which("gcc") or shutil.which("cc")), reason="no C compiler")


def teacher_outputs(case, X):
    with torch.inference_mode():
        return case.teacher(torch.from_numpy(X))[:, 0].numpy()


def probabilities(log_odds):
    return 1.0 / (1.0 + np.exp(-log_odds))


@pytest.fixture(scope="module")
def booster(case):
    pytest.importorskip("lightgbm")
    return close_booster(case)


class TestNetworks:
    def test_float32(self, case):
        pytest.importorskip("onnx")
        pytest.importorskip("onnxruntime")
        (engine,) = networks.onnx_float32(case)
        expected = teacher_outputs(case, case.X_test)
        np.testing.assert_allclose(engine.predict(case.X_test), expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(engine.row(case.X_test[:1]), [[expected[0]]], rtol=1e-4, atol=1e-4)
        many = np.concatenate([case.X_test] * 8)[: 2 * networks.BLOCK_ROWS + 3]
        np.testing.assert_allclose(engine.predict(many), teacher_outputs(case, many), rtol=1e-4, atol=1e-4)
        assert engine.nbytes > 4 * sum(layer.weight.numel() for layer in case.teacher[::2])

    def test_int8_is_really_int8(self, case):
        onnx = pytest.importorskip("onnx")
        pytest.importorskip("onnxruntime.quantization")
        (engine,) = networks.onnx_int8(case)
        expected = teacher_outputs(case, case.X_test)
        error = engine.predict(case.X_test) - expected
        assert 0.0 < error.std() < 0.05 * expected.std()
        nodes = [node.op_type for node in onnx.load_from_string(networks.int8_model(case.teacher)).graph.node]
        assert nodes.count("MatMulInteger") == nodes.count("DynamicQuantizeLinear") == 3
        assert not {"Gemm", "MatMul"} & set(nodes)

    def test_the_graph_is_sound(self, case):
        onnx = pytest.importorskip("onnx")
        graph = onnx_graph(case.teacher)
        onnx.checker.check_model(graph, full_check=True)
        assert [node.op_type for node in graph.graph.node] == ["Gemm", "Relu", "Gemm", "Relu", "Gemm"]

    def test_the_empty_graph_has_no_quality(self, case):
        pytest.importorskip("onnx")
        pytest.importorskip("onnxruntime")
        (engine,) = networks.onnx_overhead(case)
        np.testing.assert_array_equal(engine.predict(case.X_test), case.X_test[:, 0])
        assert {peer.metric for peer in peers_of(engine, case, 8)} == {None}

    def test_torch(self, case):
        (engine,) = networks.eager_torch(case)
        np.testing.assert_array_equal(engine.predict(case.X_test), teacher_outputs(case, case.X_test))
        assert engine.nbytes == 4 * sum(parameter.numel() for parameter in case.teacher.parameters())

    def test_other_layers_are_refused(self):
        with pytest.raises(InputError, match="Linear and ReLU in turn"):
            onnx_graph(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1)))


class TestTrees:
    def test_lightgbm(self, case, booster):
        engine = trees.lightgbm_engine("LightGBM", booster)
        outputs = engine.predict(case.X_test)
        if case.task == "classification":
            np.testing.assert_allclose(probabilities(outputs), booster.booster_.predict(case.X_test))
        else:
            np.testing.assert_array_equal(outputs, booster.predict(case.X_test))
        leaves = booster.booster_.dump_model()["tree_info"]
        assert engine.nbytes == sum(3 * (tree["num_leaves"] - 1) + tree["num_leaves"] for tree in leaves)

    @needs_gcc
    def test_treelite(self, case, booster):
        pytest.importorskip("tl2cgen")
        engine = trees.treelite_engine("LightGBM", booster)
        expected = booster.booster_.predict(case.X_test, raw_score=True)
        np.testing.assert_allclose(engine.predict(case.X_test), expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(engine.rows_in_c(case.X_test), engine.predict(case.X_test))

    @needs_gcc
    def test_m2cgen(self, case, booster):
        pytest.importorskip("m2cgen")
        engine = trees.m2cgen_engine("LightGBM", booster)
        expected = booster.booster_.predict(case.X_test) - (0.5 if case.task == "classification" else 0.0)
        np.testing.assert_allclose(engine.predict(case.X_test), expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(engine.rows_in_c(case.X_test), engine.predict(case.X_test))

    @needs_gcc
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")  # emlearn builds its Python side with distutils
    def test_emlearn(self, case, tmp_path, monkeypatch):
        with np.errstate():  # importing it changes them for all of the process
            emlearn = pytest.importorskip("emlearn")
        pytest.importorskip("setuptools")  # for the same
        monkeypatch.chdir(tmp_path)  # where emlearn leaves its own files
        forest = close_forest(case)
        engine = trees.emlearn_engine("emlearn", forest)
        assert np.geterr()["under"] == "ignore"
        expected = emlearn.convert(forest, method="inline", dtype="float").predict(case.X_test)
        outputs = engine.predict(case.X_test) + (0.5 if case.task == "classification" else 0.0)
        np.testing.assert_allclose(outputs, np.ravel(expected), rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(engine.rows_in_c(case.X_test), engine.predict(case.X_test))

    def test_the_small_booster_is_small(self, case):
        pytest.importorskip("lightgbm")
        assert 500 < booster_nbytes(small_booster(case)) <= 1024


@needs_gcc
class TestCompiled:
    def test_a_row_function_gets_its_model_and_every_row(self):
        source = """
        __attribute__((visibility("default"))) int scaled(const void *model, const float *row, float *out) {
          out[0] = *(const float *)model * row[0];
          out[1] = row[1];
          return row[1] < 0.0f ? 3 : 0;
        }"""
        library, nbytes = compile_library({"model.c": source})
        factor, X = np.array([10.0], np.float32), np.array([[1, 2], [3, 4], [5, 6]], np.float32)
        outputs = call_rows(library.scaled, factor.ctypes.data, X, n_outputs=2)
        np.testing.assert_array_equal(outputs, [[10, 2], [30, 4], [50, 6]])
        assert all(0 < n < 1000 for n in nbytes.values())
        with pytest.raises(RepSketchError, match="status 3"):
            call_rows(library.scaled, factor.ctypes.data, -X, n_outputs=2)

    def test_the_compilers_complaint_is_passed_on(self):
        with pytest.raises(RepSketchError, match="no_such_type"):
            compiled_engine("broken", {"model.c": "no_such_type x;"}, "")


class TestBuilding:
    def test_all_peers(self, case):
        peers, left_out = build_peers(case, n_queries=32, progress=False)
        assert len({peer.name for peer in peers}) == len(peers)
        for peer in peers:
            peer.call()
            assert peer.n_queries == 32
            assert peer.metric is None or (peer.metric > 0.8 if case.task == "classification" else peer.metric < 10)
        engines = {peer.engine for peer in peers}
        missing = [name for name in BUILDERS if name in left_out]
        assert len(engines) + len(left_out) >= len(BUILDERS) + 2
        assert all("not installed" in left_out[name] or "compiler" in left_out[name] for name in missing), left_out

    @pytest.mark.parametrize("library", ["onnx", "onnxruntime", "lightgbm", "tl2cgen", "m2cgen", "emlearn"])
    def test_a_missing_library_is_reported(self, case, library, monkeypatch):
        if library in ("tl2cgen", "m2cgen"):
            pytest.importorskip("lightgbm")
            pytest.importorskip("treelite")
        monkeypatch.setitem(sys.modules, library, None)  # makes its import fail
        monkeypatch.setattr("repsketch_bench.trees.compiled_engine", lambda name, *_: Engine(name, zeros))
        monkeypatch.setattr("repsketch_bench.trees.close_forest", lambda case: None)
        peers, left_out = build_peers(case, n_queries=8, progress=False)
        reasons = [reason for reason in left_out.values() if f"'{library}" in reason]
        assert reasons
        assert all("pip install repsketch-bench" in reason for reason in reasons)
        assert "torch eager: batch" in {peer.name for peer in peers}

    def test_a_missing_compiler_is_reported(self, case, monkeypatch):
        monkeypatch.setenv("PATH", "")
        monkeypatch.delenv("CC", raising=False)
        peers, left_out = build_peers(case, 8, {"C": broken_c, "torch": networks.eager_torch}, progress=False)
        assert left_out == {
            "C": "RepSketchError: no C compiler: neither $CC nor gcc nor cc is on the PATH; install gcc."
        }
        assert {peer.engine for peer in peers} == {"torch eager"}


def zeros(X):
    return np.zeros(len(X), np.float32)


def broken_c(case):
    return [compiled_engine("C", {"model.c": ""}, "")]


def test_every_kind_of_call_predicts_as_many_rows_as_it_says(case):
    seen = {"batch": [], "row_python": [], "row_c": []}

    def note(kind):
        return lambda X: seen[kind].append(X.copy()) or zeros(X)

    engine = Engine("counted", note("batch"), row=note("row_python"), rows_in_c=note("row_c"))
    peers = peers_of(engine, case, n_queries=20)
    for kind in seen:
        seen[kind].clear()  # the batch has scored the test rows
    for peer in peers:
        peer.call()
        assert sum(map(len, seen[peer.kind])) == peer.n_queries == 20
        np.testing.assert_array_equal(np.concatenate(seen[peer.kind]), case.X_test[:20])
    assert {len(X) for X in seen["row_python"]} == {1}


class TestBench:
    def test_our_side_is_one_more_list(self, case, monkeypatch):
        monkeypatch.setattr("repsketch_bench.runtimes._booster_builders", lambda *_: {})
        builders = {"torch": networks.eager_torch, "broken": broken_c}
        monkeypatch.setattr("repsketch_bench.runtimes.BUILDERS", builders)
        monkeypatch.setenv("PATH", "")
        monkeypatch.delenv("CC", raising=False)
        ours = {"sketch": lambda case: [Engine("sketch", zeros, row=zeros, rows_in_c=zeros, nbytes=7)]}
        result = bench_case(case, ours, n_queries=16, n_rounds=3, progress=False)
        kinds = [(entry["engine"], entry["kind"], entry["ours"]) for entry in result["contestants"]]
        assert kinds == [
            ("sketch", "batch", True),
            ("sketch", "row_python", True),
            ("sketch", "row_c", True),
            ("torch eager", "batch", False),
            ("torch eager", "row_python", False),
        ]
        assert [(ratio["peer"], ratio["kind"]) for ratio in result["ratios"]] == [
            ("torch eager", "batch"),
            ("torch eager", "row_python"),
        ]
        assert all(ratio["low"] <= ratio["median"] <= ratio["high"] for ratio in result["ratios"])
        assert "no C compiler" in result["left_out"]["broken"]
        assert result["widths"] == [5, 12, 8, 1]
        assert speed_table("tiny", result).row_count == 2
