/// One version of the support playbook of a project or tenant.
public struct GuidanceText: Sendable, Hashable {
  /// The version's metadata.
  public let version: GuidanceVersion
  /// The text, in Markdown.
  public let text: String
}

/// The metadata of a version of the support playbook.
public struct GuidanceVersion: Sendable, Hashable {
  /// The version number, starting at 1.
  public let number: Int
  /// The time it was saved.
  public let writtenAt: Instant
  /// The name of the author at the time.
  public let writtenBy: String
  /// The length of the text in UTF-8, in bytes.
  public let bytes: Int
}

/// The first paragraphs of the support playbook.
public struct GuidanceBeginning: Sendable, Hashable {
  /// The version of the paragraphs.
  public let version: GuidanceVersion
  /// The paragraphs, in Markdown.
  public let text: String
  /// True if the paragraphs are the whole text.
  public var isWhole: Bool { text.utf8.count == version.bytes }
}

/// An error in reading or saving a support playbook.
public enum GuidanceError: Error, Sendable {
  /// The text is longer than ``ScopeGuidance/longest``; the value is its length in bytes.
  case tooLong(Int)
  /// A newer version was saved in the meantime; the value is that version.
  case changedMeanwhile(GuidanceText)
  /// The project or tenant was deleted.
  case scopeNotFound
  /// The database is unavailable.
  case unavailable(Failure)
}

extension GuidanceError: UseCaseError {}
