export { planSteps, type StepPlan } from './stepPlan.js';
