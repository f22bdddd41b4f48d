export { ArrivalRecorder, SIGN_OF_LIFE_MS, type RecordingRequest } from './arrivalRecorder.js';
