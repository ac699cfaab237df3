/// One version of what a project or tenant tells its own support.
public struct GuidanceText: Sendable, Hashable {
  /// The version with what is known of it.
  public let version: GuidanceVersion
  /// The text, in Markdown as it was written.
  public let text: String
}

/// A version of the guidance without its text.
public struct GuidanceVersion: Sendable, Hashable {
  /// Counts the savings, from 1.
  public let number: Int
  /// When it was saved.
  public let writtenAt: Instant
  /// Who saved it, by the name of then.
  public let writtenBy: String
  /// The length of the text in UTF-8.
  public let bytes: Int
}

/// The first paragraphs of the guidance.
public struct GuidanceBeginning: Sendable, Hashable {
  /// The version they are of.
  public let version: GuidanceVersion
  /// The paragraphs, in Markdown.
  public let text: String
  /// True when there is no more.
  public var isWhole: Bool { text.utf8.count == version.bytes }
}

/// Why guidance cannot be read or saved.
public enum GuidanceError: Error, Sendable {
  /// The text is longer than ``ScopeGuidance/longest``; it has so many bytes.
  case tooLong(Int)
  /// Somebody else saved since; the version that is now the newest.
  case changedMeanwhile(GuidanceText)
  /// The scope was deleted.
  case scopeNotFound
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension GuidanceError: UseCaseError {}
