import java.io.BufferedReader;
import java.io.FileReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.Random;
import weka.classifiers.Classifier;
import weka.classifiers.trees.J48;
import weka.classifiers.trees.j48.BinC45Split;
import weka.classifiers.trees.j48.C45Split;
import weka.classifiers.trees.j48.ClassifierSplitModel;
import weka.classifiers.trees.j48.ClassifierTree;
import weka.classifiers.trees.j48.ModelSelection;
import weka.classifiers.trees.j48.PruneableClassifierTree;
import weka.core.Instances;
import weka.core.Utils;

/**
 * Grows trees with the Weka on the class path and writes their full content, doubles as hex.
 *
 * Reads one job per line of standard input, fields separated by tabs:
 *   j48 TRAIN.arff UNSEEN.arff OUT OPTIONS   a J48 tree and its results for the unseen rows
 *   rep TRAIN.arff UNSEEN.arff OUT FOLDS     -R with 3.6's folds and this Weka's comparisons
 *   nbtree TRAIN.arff UNSEEN.arff OUT        results, number of leaves and tests of an NBTree
 *   time TRAIN.arff WARMUPS REPEATS OPTIONS  median seconds of J48's buildClassifier, to stdout
 */
public class WekaReference {

  /** In 3.6 selectModel(train, test) equals selectModel(train); in 3.9.7 it fails, and so does J48 -R. */
  static class GrowOnTrainingRows extends ModelSelection {
    private final ModelSelection inner;

    GrowOnTrainingRows(ModelSelection inner) {
      this.inner = inner;
    }

    public ClassifierSplitModel selectModel(Instances data) throws Exception {
      return inner.selectModel(data);
    }

    public ClassifierSplitModel selectModel(Instances train, Instances test) throws Exception {
      return inner.selectModel(train);
    }

    public String getRevision() {
      return "";
    }
  }

  public static void main(String[] args) throws Exception {
    BufferedReader jobs = new BufferedReader(new InputStreamReader(System.in));
    for (String line = jobs.readLine(); line != null; line = jobs.readLine()) {
      String[] job = line.split("\t", -1);
      if (job[0].equals("time")) {
        time(read(job[1]), Integer.parseInt(job[2]), Integer.parseInt(job[3]), job[4]);
        continue;
      }
      Instances train = read(job[1]);
      Instances unseen = read(job[2]);
      PrintWriter out = new PrintWriter(job[3], "UTF-8");
      if (job[0].equals("j48")) {
        J48 learner = new J48();
        learner.setOptions(Utils.splitOptions(job[4]));
        learner.buildClassifier(train);
        write((ClassifierTree) field(learner, "m_root"), null, 0, train, out);
        for (int i = 0; i < unseen.numInstances(); i++) {
          double[] proba = learner.distributionForInstance(unseen.instance(i));
          out.println("P " + (int) learner.classifyInstance(unseen.instance(i)) + hex(proba));
        }
        out.print("TEXT\n" + learner.toString());
      } else if (job[0].equals("rep")) {
        ClassifierTree root = reducedError(train, Integer.parseInt(job[4]));
        write(root, null, 0, train, out);
        for (int i = 0; i < unseen.numInstances(); i++) {
          double[] proba = root.distributionForInstance(unseen.instance(i), false);
          out.println("P " + (int) root.classifyInstance(unseen.instance(i)) + hex(proba));
        }
      } else {
        Object learner = Class.forName("weka.classifiers.trees.NBTree").newInstance();
        ((Classifier) learner).buildClassifier(train);
        out.println("L " + (int) ((ClassifierTree) field(learner, "m_root")).numLeaves());
        writeTests((ClassifierTree) field(learner, "m_root"), out);
        for (int i = 0; i < unseen.numInstances(); i++) {
          out.println("P 0" + hex(((Classifier) learner).distributionForInstance(unseen.instance(i))));
        }
      }
      out.close();
    }
  }

  /** J48 -R of Weka 3.6, which, unlike 3.9.7, does not shuffle the rows before it draws the folds. */
  static ClassifierTree reducedError(Instances train, int folds) throws Exception {
    ModelSelection selection = new GrowOnTrainingRows(modelSelection(2, train));
    PruneableClassifierTree root = new PruneableClassifierTree(selection, true, folds, true, 1);
    Instances data = new Instances(train);
    data.stratify(folds);
    Instances growing = data.trainCV(folds, folds - 1, new Random(1));
    root.buildTree(growing, data.testCV(folds, folds - 1), false);
    root.prune();
    return root;
  }

  /** One line per node in preorder: N kind attribute threshold empty label children, own weights, branch. */
  static void write(
      ClassifierTree node, ClassifierSplitModel parent, int branch, Instances train, PrintWriter out)
      throws Exception {
    ClassifierSplitModel model = (ClassifierSplitModel) field(node, "m_localModel");
    boolean leaf = (Boolean) field(node, "m_isLeaf");
    String kind = "leaf";
    int attribute = -1;
    double threshold = Double.NaN;
    int label = -1;
    ClassifierTree[] sons = new ClassifierTree[0];
    if (leaf) {
      ClassifierSplitModel printed = parent == null ? model : parent;
      label = printed.distribution().maxClass(branch);
      if (!printed.dumpLabel(branch, train).startsWith(train.classAttribute().value(label) + " (")) {
        throw new IllegalStateException("the printed label is another one");
      }
    } else {
      boolean binary = model instanceof BinC45Split;
      attribute = binary ? ((BinC45Split) model).attIndex() : ((C45Split) model).attIndex();
      boolean numeric = train.attribute(attribute).isNumeric();
      kind = numeric ? "numeric" : binary ? "binary" : "multiway";
      if (numeric || binary) {
        threshold = (Double) field(model, "m_splitPoint");
      }
      sons = (ClassifierTree[]) field(node, "m_sons");
    }
    int classes = train.numClasses();
    double[] own = new double[classes];
    double[] given = new double[classes];
    for (int c = 0; c < classes; c++) {
      own[c] = model.distribution().perClass(c);
      given[c] = parent == null ? own[c] : parent.distribution().perClassPerBag(branch, c);
    }
    out.println("N " + kind + " " + attribute + " " + Double.toHexString(threshold) + " "
        + (((Boolean) field(node, "m_isEmpty")) ? 1 : 0) + " " + label + " " + sons.length
        + hex(own) + hex(given));
    for (int i = 0; i < sons.length; i++) {
      write(sons[i], model, i, train, out);
    }
  }

  /** One line per node of an NBTree in preorder: N attribute threshold; -1 for a leaf. */
  static void writeTests(ClassifierTree node, PrintWriter out) throws Exception {
    if ((Boolean) field(node, "m_isLeaf")) {
      out.println("N -1 NaN");
      return;
    }
    Object split = field(field(node, "m_localModel"), "m_c45S");
    double threshold = (Double) field(split, "m_splitPoint");
    out.println("N " + ((C45Split) split).attIndex() + " " + Double.toHexString(threshold));
    for (ClassifierTree son : (ClassifierTree[]) field(node, "m_sons")) {
      writeTests(son, out);
    }
  }

  static void time(Instances train, int warmups, int repeats, String options) throws Exception {
    double[] seconds = new double[repeats];
    for (int i = -warmups; i < repeats; i++) {
      J48 learner = new J48();
      learner.setOptions(Utils.splitOptions(options));
      Instances copy = new Instances(train);
      System.gc();
      long start = System.nanoTime();
      learner.buildClassifier(copy);
      if (i >= 0) {
        seconds[i] = (System.nanoTime() - start) * 1e-9;
      }
    }
    Arrays.sort(seconds);
    System.out.println(seconds[repeats / 2]);
  }

  static Instances read(String path) throws Exception {
    Instances data = new Instances(new FileReader(path));
    data.setClassIndex(data.numAttributes() - 1);
    return data;
  }

  /** The constructor takes two arguments in 3.6 and four in 3.8+ (penalty on, snapping on). */
  static ModelSelection modelSelection(int minimum, Instances train) throws Exception {
    Class<?> type = Class.forName("weka.classifiers.trees.j48.C45ModelSelection");
    Constructor<?> constructor = type.getConstructors()[0];
    return (ModelSelection) (constructor.getParameterTypes().length == 2
        ? constructor.newInstance(minimum, train)
        : constructor.newInstance(minimum, train, true, false));
  }

  static Object field(Object owner, String name) throws Exception {
    for (Class<?> type = owner.getClass(); type != null; type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (field.getName().equals(name)) {
          field.setAccessible(true);
          return field.get(owner);
        }
      }
    }
    throw new NoSuchFieldException(name);
  }

  static String hex(double[] values) {
    StringBuilder text = new StringBuilder();
    for (double value : values) {
      text.append(' ').append(Double.toHexString(value));
    }
    return text.toString();
  }
}
