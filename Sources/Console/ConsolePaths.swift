/// The paths of the console, which routes match and pages link to: each feature declares its own.
enum ConsolePaths {}
