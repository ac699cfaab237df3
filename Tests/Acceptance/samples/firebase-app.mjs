export const initializeApp = (options) => options;
