// Confidences of predictions: who has one, who is below the cut, and where a curve over cuts stands.

const CERTAIN = 1; // of a prediction that has none, among others that have one
const [HIGHEST, LOWEST] = [0.95, 0.05]; // of confidences that are given to a whole scene

export const confidenceOf = (shape) => shape.confidence ?? CERTAIN;

const isRated = ({ confidence }) => confidence !== null && confidence !== undefined;

/** Whether some prediction of a scene has a confidence. */
export const hasConfidence = (scene) => Boolean(scene?.prediction.some(isRated));

/** A function that says whether a shape of a side is below the cut of a state. */
export function belowCut({ scene, view }) {
  if ((view.cut ?? null) === null || !hasConfidence(scene)) return () => false;
  return (side, shape) => side === "prediction" && confidenceOf(shape) < view.cut;
}

/** The scene with confidences that fall evenly with the numbers of the predictions, for a start. */
export function rated(scene) {
  const step = (HIGHEST - LOWEST) / Math.max(1, scene.prediction.length - 1);
  const confidence = (at) => Math.round((HIGHEST - at * step) * 100) / 100;
  return { ...scene, prediction: scene.prediction.map((shape, at) => ({ ...shape, confidence: confidence(at) })) };
}

/** The scene without confidences. */
export const unrated = (scene) => ({ ...scene, prediction: scene.prediction.map((shape) => ({ ...shape, confidence: null })) });

/** The row of a curve over cuts that holds at a cut: it holds from its own confidence down to the next. */
export const rowAt = ({ cuts }, cut) => (cut === null ? cuts.length : cuts.filter((own) => own === null || own >= cut).length) - 1;
