/// The part of an import that an audit entry is about, with its stable code.
public enum ImportPart: String, CaseIterable, Sendable {
  case begin
  /// The end, after all rows.
  case complete
  /// The end, after the rows before an error in the file.
  case interrupted
}
