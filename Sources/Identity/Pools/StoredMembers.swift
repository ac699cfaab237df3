import JSON
import Synchronization
import Text

/// A pool's configuration members that are only stored and returned: their JSON text, and what
/// Identity reads in it.
///
/// A text is parsed at most once, and only if something in it is needed. Copies of settings share
/// it, so a write that leaves the text as it is parses nothing.
final class StoredMembers: Sendable {
  /// What Identity reads in a text.
  struct Content: Sendable {
    /// The JSON value; nil if the text isn't JSON.
    let root: JSON?
    let testCodes: [String: String]
    /// The text without the test phone numbers and objects that have nothing else.
    let textWithoutTestNumbers: String
  }

  let text: String
  /// Whether the pool is a tenant, which has its test numbers elsewhere than a project.
  let isTenant: Bool
  /// The content, once it was needed.
  let parsed: Mutex<Content?>

  /// Creates members whose text is parsed when it's needed.
  init(_ text: String, isTenant: Bool) {
    (self.text, self.isTenant) = (text, isTenant)
    parsed = Mutex(nil)
  }

  /// Creates members from JSON, which isn't parsed again.
  init(_ root: JSON.Object, isTenant: Bool) {
    let root = JSON.object(root)
    text = String(decoding: root.serialized(), as: UTF8.self)
    self.isTenant = isTenant
    parsed = Mutex(Content(root, text, isTenant: isTenant))
  }

  var content: Content {
    parsed.withLock { parsed in
      if let parsed { return parsed }
      let content = Content(try? JSON.parse(Array(text.utf8)), text, isTenant: isTenant)
      parsed = content
      return content
    }
  }

  /// The members as an object; empty if they aren't one.
  var object: JSON.Object { content.root?.objectValue ?? [:] }
}

extension StoredMembers: Equatable {
  /// Compares the texts byte by byte.
  static func == (one: StoredMembers, other: StoredMembers) -> Bool {
    one === other || one.text.isSameBytes(as: other.text)
  }
}

extension StoredMembers.Content {
  fileprivate init(_ root: JSON?, _ text: String, isTenant: Bool) {
    self.root = root
    testCodes = SMSSettings(root, isTenant: isTenant).testCodes
    textWithoutTestNumbers = TestNumber.removed(from: root, text, isTenant: isTenant)
  }
}
