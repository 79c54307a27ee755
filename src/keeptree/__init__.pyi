"""What type checkers see: the public names, which the package loads on first use."""

from keeptree import evaluation as evaluation
from keeptree.auditing.audit import audit as audit
from keeptree.auditing.audit import audit_file as audit_file
from keeptree.data.source import DataFile as DataFile
from keeptree.engines import score as score
from keeptree.engines.fitting import fit_table as fit_table
from keeptree.engines.local import predict_file as predict_file
from keeptree.explanation.nearest_change import nearest_change as nearest_change
from keeptree.explanation.story import explain as explain
from keeptree.explanation.unfamiliar import unfamiliar as unfamiliar
from keeptree.exporters import export as export
from keeptree.geometry.boundary import Boundary as Boundary
from keeptree.geometry.metric import Metric as Metric
from keeptree.importers import keep as keep
from keeptree.learners.c45 import C45Classifier as C45Classifier
from keeptree.learners.nbtree import NBTreeClassifier as NBTreeClassifier
from keeptree.learners.prune import prune as prune
from keeptree.learners.regressor import TreeRegressor as TreeRegressor
from keeptree.probability.confdtree import ConfDTreeClassifier as ConfDTreeClassifier
from keeptree.probability.confdtree_forest import (
    ConfDTreeForestClassifier as ConfDTreeForestClassifier,
)
from keeptree.probability.display import DistanceKernelDisplay as DistanceKernelDisplay
from keeptree.probability.distance_kernel import (
    DistanceKernelClassifier as DistanceKernelClassifier,
)
from keeptree.probability.fit_file import fit_file as fit_file
from keeptree.probability.geometric_rank import GeometricRankClassifier as GeometricRankClassifier
from keeptree.probability.kept import KeptTreeClassifier as KeptTreeClassifier
from keeptree.probability.margin import MarginTreeClassifier as MarginTreeClassifier
from keeptree.probability.smoothing import SmoothedTreeClassifier as SmoothedTreeClassifier
from keeptree.probability.soft import SoftTreeClassifier as SoftTreeClassifier
from keeptree.reporting.report import report as report
from keeptree.saving import load as load
from keeptree.saving import save as save
from keeptree.signing import sign_file as sign_file
from keeptree.signing import verify_file as verify_file
from keeptree.tree import Tree as Tree

__version__: str
__all__: list[str]
