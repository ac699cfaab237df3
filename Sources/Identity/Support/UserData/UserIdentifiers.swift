import JSON
import Text

/// What identifies a user in texts: the UID, and the addresses, phone numbers, and names that the
/// user has or had, and addresses that the user wanted.
struct UserIdentifiers: Sendable, Equatable {
  let uid: String
  /// Lowercase.
  private(set) var emails: Set<UntrustedText> = []
  private(set) var phones: Set<UntrustedText> = []
  private(set) var names: Set<UntrustedText> = []

  /// A shorter UID is too likely to be a word or a number of something else.
  private static let shortestUID = 6

  init(uid: String) { self.uid = uid }

  init(_ account: Account) {
    uid = account.id.text
    for email in account.onFile + account.formerAddresses { add(email: email) }
    add(phone: account.phoneNumber)
    add(name: account.displayName)
    for factor in account.factors { add(phone: factor.phoneNumber) }
    for provider in account.providers {
      add(name: provider.displayName)
      add(name: provider.rawID)
    }
  }

  mutating func add(email: String?) {
    guard let email, !email.isEmpty else { return }
    emails.insert(UntrustedText(AccountRules.folded(email: email)))
    // As earlier versions stored it, and as people write it.
    emails.insert(UntrustedText(email.lowercased()))
    emails.insert(UntrustedText(AccountRules.readable(email: email.lowercased())))
  }

  mutating func add(phone: String?) {
    if let phone, !phone.isEmpty { phones.insert(UntrustedText(phone)) }
  }

  mutating func add(name: String?) {
    if let name, !name.isEmpty { names.insert(UntrustedText(name)) }
  }

  mutating func remove(email: UntrustedText) { emails.remove(email) }

  mutating func remove(phone: UntrustedText) { phones.remove(phone) }

  /// Adds what an entry of the audit log about the user says.
  mutating func add(_ row: AuditRow) {
    if row.objectName.contains("@") { add(email: row.objectName) }
    for change in row.changes {
      for value in [change.old, change.new].compactMap({ $0 }) {
        switch (change.field, value) {
        case (.email, .text(let text)), (.linkEmail, .text(let text)),
          (.providerEmail, .text(let text)):
          add(email: text)
        case (.phoneNumber, .text(let text)): add(phone: text)
        case (.displayName, .text(let text)): add(name: text)
        case (.factors, .factors(let factors)):
          for factor in factors { add(phone: factor.phoneNumber) }
        default: break
        }
      }
    }
  }

  /// The addresses and numbers that messages were sent to.
  var recipients: [String] { emails.union(phones).map(\.text).sorted() }

  /// The texts that a list of users could name the user by.
  var listed: [String] { ([uid.lowercased()] + recipients).sorted() }

  /// Returns whether a text is or contains an identifier, as a separate word.
  func isMentioned(in text: String?) -> Bool {
    guard let text, !text.isEmpty else { return false }
    if text.isSameBytes(as: uid) || names.contains(UntrustedText(text)) { return true }
    let bytes = Array(text.lowercased().utf8)
    if uid.utf8.count >= Self.shortestUID, Self.hasWord(uid.lowercased(), in: bytes) {
      return true
    }
    return emails.union(phones).contains { Self.hasWord($0.text, in: bytes) }
  }

  /// Returns whether bytes contain a word that no letter or digit comes before or after.
  private static func hasWord(_ word: String, in bytes: [UInt8]) -> Bool {
    let word = Array(word.utf8)
    guard let first = word.first, bytes.count >= word.count else { return false }
    var start = 0
    while start + word.count <= bytes.count {
      defer { start += 1 }
      guard bytes[start] == first, bytes[start..<start + word.count].elementsEqual(word) else {
        continue
      }
      let end = start + word.count
      let isBegun = start > 0 && isLetter(bytes[start - 1])
      if !isBegun, end == bytes.count || !isLetter(bytes[end]) { return true }
    }
    return false
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...:
      true
    default: false
    }
  }
}

// MARK: - Storage

extension UserIdentifiers {
  /// The identifiers as they're stored until the audit log is erased.
  var stored: String {
    let members: [(String, JSON)] = [
      ("uid", .string(uid)), ("emails", Self.list(emails)), ("phones", Self.list(phones)),
      ("names", Self.list(names)),
    ]
    return String(decoding: JSON.object(JSON.Object(members)).serialized(), as: UTF8.self)
  }

  init(stored text: String) throws {
    let json = try JSON.parse(Array(text.utf8))
    uid = json["uid"]?.textValue?.text ?? ""
    emails = Self.set(json["emails"])
    phones = Self.set(json["phones"])
    names = Self.set(json["names"])
  }

  private static func list(_ texts: Set<UntrustedText>) -> JSON {
    .array(texts.map(\.text).sorted().map { .string($0) })
  }

  private static func set(_ json: JSON?) -> Set<UntrustedText> {
    Set((json?.arrayValue ?? []).compactMap(\.textValue))
  }
}
