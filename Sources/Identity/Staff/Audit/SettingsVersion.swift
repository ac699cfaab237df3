import Crypto
import Text

/// Identifies the settings that a form showed, so that saving the form later doesn't undo a change
/// that someone else made meanwhile.
///
/// It's a digest of the values, so settings that were changed back have their former version again.
public struct SettingsVersion: Sendable {
  public let text: String

  /// Creates the version that a form was sent with; a text that no settings have, such as the empty one
  /// of a form without the field, differs from every version.
  public init(sent text: String) { self.text = text }

  init(_ values: [String]) {
    text = Hex.encode(Store.digest(values.map { "\($0.utf8.count) \($0)" }.joined()))
  }

  init(_ fields: [AuditField]) {
    self.init(
      fields.flatMap { field in
        let (kind, text) = field.value.stored
        return [field.name.storedName, kind, text ?? ""]
      })
  }
}

extension SettingsVersion: Equatable {
  public static func == (one: Self, other: Self) -> Bool { one.text.isSameBytes(as: other.text) }
}
