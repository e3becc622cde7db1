// Which of some files is the reference, which the prediction and which the image, by their names.

// Words between letters, digits and signs; "label" alone may be either side.
const WORDS = {
  reference: ["ref", "reference", "gt", "groundtruth", "truth", "gold", "manual", "target", "expert", "annotation", "annotated", "true", "rater1", "labelstr", "labelsts"],
  prediction: ["pred", "preds", "prediction", "predicted", "predictions", "output", "result", "auto", "automatic", "model", "net", "unet", "nnunet", "cnn", "inference", "rater2"],
  image: ["image", "img", "raw", "grey", "gray", "scan", "flair", "t1", "t1w", "t1c", "t2", "t2w", "ct", "mr", "mri", "dapi", "0000"],
};
const TABLES = /\.csv$/i;
const PICTURES = /\.(jpe?g)$/i;

/** Scores of a name: how many words speak for each role. */
function scores(name) {
  const words = name.toLowerCase().replace(/ground[-_ ]?truth/g, "groundtruth").split(/[^a-z0-9]+/);
  const count = (role) => words.filter((word) => WORDS[role].includes(word)).length;
  const picture = PICTURES.test(name) ? 2 : 0;
  return { reference: count("reference"), prediction: count("prediction"), image: count("image") + picture };
}

/** Roles of files by their names: {reference, prediction, image?, scores?, sure}. Only if the names of
 * both sides differ in what they say are the roles sure. */
export function guessRoles(files) {
  const scores = files.find(({ name }) => TABLES.test(name)) ?? null;
  return { ...guessImages(files.filter(({ name }) => !TABLES.test(name))), scores };
}

function guessImages(files) {
  const rated = files.map((file) => ({ file, ...scores(file.name) }));
  const image = files.length > 2 ? best(rated, (one) => one.image - one.reference - one.prediction) : rated.find((one) => PICTURES.test(one.file.name));
  const sides = rated.filter((one) => one !== image);
  const [one, other] = sides;
  if (sides.length !== 2) return { reference: one?.file ?? null, prediction: other?.file ?? null, image: image?.file ?? null, sure: false };
  const lean = one.reference - one.prediction - (other.reference - other.prediction);
  const [reference, prediction] = lean >= 0 ? [one, other] : [other, one];
  const sure = lean !== 0 && (!image || image.image > 0) && files.length <= 3;
  return { reference: reference.file, prediction: prediction.file, image: image?.file ?? null, sure };
}

const best = (list, value) => list.reduce((found, one) => (value(one) > value(found) ? one : found));
