/// One version of the support playbook of a project or tenant.
public struct GuidanceText: Sendable, Hashable {
  public let version: GuidanceVersion
  /// The text, in Markdown.
  public let text: String
}

public struct GuidanceVersion: Sendable, Hashable {
  /// The version number, starting at 1.
  public let number: Int
  public let writtenAt: Instant
  public let writtenBy: String
  /// The length of the text in UTF-8, in bytes.
  public let bytes: Int
}

public struct GuidanceBeginning: Sendable, Hashable {
  public let version: GuidanceVersion
  /// The paragraphs, in Markdown.
  public let text: String
  public var isWhole: Bool { text.utf8.count == version.bytes }
}

public enum GuidanceError: Error, Sendable {
  /// The text is longer than ``PoolGuidance/longest``; the value is its length in bytes.
  case tooLong(Int)
  /// A newer version was saved in the meantime; the value is that version.
  case changedMeanwhile(GuidanceText)
  case poolNotFound
}
