"""torch modules as teachers."""

import pickle

import numpy as np
import pytest

from repsketch.errors import TeacherError
from repsketch.teacher import as_teacher
from support.outputs import by_sevens

N_ROWS, N_FEATURES = 240, 4


class TestTorch:
    torch = property(lambda self: pytest.importorskip("torch"))

    def test_logits(self, X):
        layer = self.torch.nn.Linear(N_FEATURES, 3)
        outputs = by_sevens(layer).label(X)
        assert outputs.task == "classification"
        expected = X.astype(np.float32) @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
        np.testing.assert_allclose(outputs.values, expected, atol=1e-5)

    def test_softmax_gives_the_same_as_logits(self, X):
        layer = self.torch.nn.Linear(N_FEATURES, 2)
        net = self.torch.nn.Sequential(layer, self.torch.nn.Softmax(dim=1))
        np.testing.assert_allclose(as_teacher(net).label(X).values, as_teacher(layer).label(X).values, atol=1e-4)

    def test_one_column(self, X):
        layer = self.torch.nn.Linear(N_FEATURES, 1)
        assert as_teacher(layer).label(X).task == "regression"
        assert as_teacher(layer, task="classification").label(X).task == "classification"

    def test_a_module_defined_elsewhere_without_parameters(self, X):
        class First(self.torch.nn.Module):
            def forward(self, x):
                return x[:, 0]

        np.testing.assert_array_equal(as_teacher(First()).label(X).values, X[:, :1].astype(np.float32))

    def test_evaluates_without_dropout_and_restores_every_flag(self, X):
        nn = self.torch.nn
        net = nn.Sequential(nn.Linear(N_FEATURES, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1)).train()
        net[1].eval()
        first, second = (as_teacher(net).label(X).values for _ in range(2))
        np.testing.assert_array_equal(first, second)
        assert [layer.training for layer in net] == [True, False, True, True]
        assert net.training

    def test_restores_the_flag_after_an_error(self, X):
        layer = self.torch.nn.Linear(N_FEATURES + 1, 1).train()
        with pytest.raises(TeacherError, match=r"Linear raised RuntimeError on rows of shape \(240, 4\)"):
            as_teacher(layer).label(X)
        assert layer.training

    def test_leaves_the_table_alone(self, X):
        table = X.astype(np.float32)
        table.flags.writeable = False
        as_teacher(self.torch.nn.ReLU(inplace=True)).label(table)
        np.testing.assert_array_equal(table, X.astype(np.float32))

    @pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("bfloat16", 0.1)])
    def test_other_precisions(self, X, dtype, tolerance):
        """Rows of float32 are given in the precision of the weights; bfloat16 keeps 8 bits of numbers up to 10."""
        layer = self.torch.nn.Linear(N_FEATURES, 1).to(getattr(self.torch, dtype))
        with self.torch.no_grad():
            layer.weight.copy_(self.torch.tensor([[1.0, -2.0, 0.5, 0.0]]))
            layer.bias.fill_(1.5)
        expected = X.astype(np.float32) @ np.array([[1.0], [-2.0], [0.5], [0.0]]) + 1.5
        np.testing.assert_allclose(as_teacher(layer).label(X).values, expected, atol=tolerance)

    def test_exported_program(self, X):
        layer = self.torch.nn.Linear(N_FEATURES, 3)
        rows = {0: self.torch.export.Dim("rows")}
        program = self.torch.export.export(layer, (self.torch.zeros(5, N_FEATURES),), dynamic_shapes=(rows,))
        np.testing.assert_allclose(
            as_teacher(program.module()).label(X).values, as_teacher(layer).label(X).values, atol=1e-6
        )

    def test_sparse_rows_become_dense(self, X):
        sparse = pytest.importorskip("scipy.sparse")
        layer = self.torch.nn.Linear(N_FEATURES, 1)
        teacher = as_teacher(layer)
        np.testing.assert_array_equal(teacher.label(sparse.csr_array(X)).values, teacher.label(X).values)

    def test_a_tuple_is_refused(self, X):
        with pytest.raises(TeacherError, match="returned a tuple"):
            as_teacher(self.torch.nn.LSTM(N_FEATURES, 2)).label(X)

    def test_survives_pickle(self, X):
        teacher = as_teacher(self.torch.nn.Linear(N_FEATURES, 1))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(teacher)).label(X).values, teacher.label(X).values)
