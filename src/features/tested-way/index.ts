/** The face of this feature: all that other rooms may use of it. */

export { isTested, minorNumber, testedLine, testedText } from './lines.ts';
export { findWay, type Stand, stepText, type Way, type WayStep } from './way.ts';
