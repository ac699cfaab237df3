public import Crypto
import Database
public import WebAuthn

/// A passkey that an administrator signs in with.
public struct Passkey: Sendable {
  /// The maximum length of a name, in characters.
  public static let longestName = 60
  public static let most = 10

  /// The ID, which isn't the credential ID.
  public let id: ID<Passkey>
  public let name: String
  public let createdAt: Instant
  public let lastUsedAt: Instant?
  /// Whether it has been copied to other devices, such as by a password manager.
  public let isBackedUp: Bool
}

/// What a page passes to the browser's passkey functions.
public struct PasskeyChallenge: Sendable {
  /// The random bytes that the authenticator signs.
  public let bytes: [UInt8]
  /// The encrypted challenge that the form carries to the next step; valid once, for ten minutes,
  /// and for one session or browser.
  public let ticket: Secret
  /// The credential IDs: those to sign in with, all if it's empty, or those that exist already.
  public let credentials: [[UInt8]]
}

/// What the browser's passkey functions returned for a sign-in.
public struct PasskeyResponse: Sendable {
  public let credential: [UInt8]
  /// The handle of the user; empty if the authenticator has none.
  public let userHandle: [UInt8]
  public let assertion: AssertionResponse

  public init(credential: [UInt8], userHandle: [UInt8], assertion: AssertionResponse) {
    (self.credential, self.userHandle) = (credential, userHandle)
    self.assertion = assertion
  }
}

public struct NewPasskey: Sendable {
  public let passkey: Passkey
  /// Ten new recovery codes, stored only as digests, if it's the administrator's only second factor
  /// and there were no codes; otherwise empty.
  public let recoveryCodes: [Secret]
}

public enum PasskeyError: Error, Sendable {
  /// The challenge expired, was used, or belongs to another session or browser.
  case ended
  /// The session to be re-authenticated has ended; nothing was used up or recorded.
  case sessionEnded
  /// The response isn't valid, or not one of the administrator's passkeys.
  case refused
  case usedCode
  case exists
  case tooMany
  case nameRequired
  case nameTooLong
  /// The administrator has to re-authenticate first, or the session has ended.
  case reauthenticationRequired
  /// An incorrect password, or no password where one is required.
  case wrongPassword
  case throttled(until: Instant)
  case mandatory(PasskeyNecessity)
}

/// Why an administrator's passkey can't be removed.
public enum PasskeyNecessity: Sendable, Equatable {
  /// A second factor is required, and this is the last one.
  case lastSecondFactor
  /// The role requires a passkey, and this is the last one.
  case lastPasskey
  /// No owner without an end date could sign in.
  case lastOwner
  /// The account is the break-glass account, and can't sign in otherwise.
  case breakGlass
}

/// Why a passkey was refused, in the audit log.
enum PasskeyRefusal: String {
  /// The passkey isn't registered, or belongs to another administrator.
  case unknown
  case invalid
  /// The count of signatures went backward: the key may have been copied.
  case copied
  /// Sign-in with passwords and passkeys is off.
  case signInOff = "sign-in-off"
}

/// A stored passkey with what verifies its signatures.
struct PasskeyRecord {
  let passkey: Passkey
  let administrator: ID<Administrator>
  let credential: [UInt8]
  let key: [UInt8]
  let signCount: UInt32

  private static let columns: SQL = """
    passkey_id, name, created_at, last_used_at, is_backed_up, administrator_id, credential_id,
    cose_key, sign_count
    """

  private init(_ row: inout Row) throws {
    passkey = Passkey(
      id: try row.next(), name: try row.next(), createdAt: try row.next(),
      lastUsedAt: try row.next(), isBackedUp: try row.next())
    administrator = try row.next()
    credential = try row.next()
    key = try row.next()
    signCount = UInt32(clamping: try row.next() as Int64)
  }

  /// Finds the passkeys of an administrator, oldest first.
  static func all(
    of id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> [PasskeyRecord] {
    try connection.all(
      "SELECT \(columns) FROM passkey WHERE administrator_id = \(id)"
    ) { try PasskeyRecord(&$0) }.sorted {
      ($0.passkey.createdAt, $0.passkey.id.text) < ($1.passkey.createdAt, $1.passkey.id.text)
    }
  }

  static func find(
    credential: [UInt8], _ connection: borrowing Connection
  ) throws -> PasskeyRecord? {
    try connection.first(
      "SELECT \(columns) FROM passkey WHERE credential_id = \(credential)"
    ) { try PasskeyRecord(&$0) }
  }

  static func insert(
    _ new: RegisteredPasskey, _ id: ID<Passkey>, name: String, transports: [String],
    of administrator: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO passkey (passkey_id, administrator_id, credential_id, cose_key, sign_count,
        aaguid, transports, is_backup_eligible, is_backed_up, name, created_at)
      VALUES (\(id), \(administrator), \(new.id), \(new.key), \(Int64(new.signCount)),
        \(new.aaguid), \(transports.joined(separator: " ")), \(new.isBackupEligible),
        \(new.isBackedUp), \(name), \(now))
      """)
  }

  /// Stores what a use changed; false if another use was faster.
  func record(
    _ use: PasskeyUse, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.run(
      """
      UPDATE passkey SET sign_count = \(Int64(use.signCount)), is_backed_up = \(use.isBackedUp),
        last_used_at = \(now)
      WHERE passkey_id = \(passkey.id) AND sign_count = \(Int64(signCount))
      """) == 1
  }

  /// Removes all passkeys of an administrator, and returns their number.
  static func clear(_ id: ID<Administrator>, _ connection: borrowing Connection) throws -> Int {
    try connection.run("DELETE FROM passkey WHERE administrator_id = \(id)")
  }
}

/// Whether administrators who manage others must sign in with a passkey.
enum PasskeyRequirement {
  static let setting = InstanceValue("passkeys_required")

  static func isOn(_ connection: borrowing Connection) throws -> Bool {
    try setting.read(connection) != nil
  }

  static func applies(
    to administrator: Administrator, _ connection: borrowing Connection
  ) throws -> Bool {
    try administrator.managesOthers && isOn(connection)
  }
}

extension Administrator {
  /// Whether the passkey requirement can apply to the administrator.
  var managesOthers: Bool { maySomewhere(.manageAdministrators) }
}

extension Passkeys {
  public func isRequired() async throws -> Bool {
    try await store.read { try PasskeyRequirement.isOn($0) }
  }

  /// Requires passkeys, or no longer requires them.
  ///
  /// Sessions without a passkey can then only use or add one, at once. The administrator who turns
  /// it on has used a passkey in this session, so it can't lock out everyone. Operators with access to
  /// the data folder can only turn it off.
  ///
  /// - Returns: False if nothing changes.
  public func setRequired(
    _ isRequired: Bool, by caller: Caller
  ) async throws -> ActionOutcome<Bool> {
    try await store.run(.changePasskeyRequirement, by: caller, in: .instance) {
      context, connection in
      let old = try PasskeyRequirement.isOn(connection)
      if isRequired {
        guard let session = context.request?.agent else {
          throw InstanceSettingError.passkeyNotUsed
        }
        // By administrator: the session's token was renewed if this request had a code.
        let used = try connection.first(
          """
          SELECT 1 FROM console_session
          WHERE administrator_id = \(session.administrator.id)
            AND csrf_token = \(session.csrfToken) AND passkey_at IS NOT NULL
          """
        ) { _ in true }
        let has = try !PasskeyRecord.all(of: session.administrator.id, connection).isEmpty
        guard used != nil, has else { throw InstanceSettingError.passkeyNotUsed }
      }
      guard old != isRequired else { return false }
      try PasskeyRequirement.setting.store(isRequired ? "1" : nil, connection)
      var entry = AuditEntry(.instancePasskeyRequirement, of: nil)
      entry.add(.passkeyRequired, from: .flag(old), to: .flag(isRequired))
      try context.record(entry, connection)
      return true
    }
  }
}
