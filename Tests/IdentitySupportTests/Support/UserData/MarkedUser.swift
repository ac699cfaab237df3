import Crypto
import Database
import Foundation
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

extension Instance {
  /// The columns of each table.
  func schema() async throws -> [(table: String, columns: [String])] {
    try await database.read { connection in
      guard connection.dialect == .sqlite else {
        let rows = try connection.all(
          """
          SELECT /* test */ table_name::text, column_name::text FROM information_schema.columns
          WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position
          """
        ) { (table: try $0.next() as String, column: try $0.next() as String) }
        return Dictionary(grouping: rows, by: \.table).map { ($0.key, $0.value.map(\.column)) }
      }
      let names = try connection.all(
        """
        SELECT /* test */ name FROM pragma_table_list
        WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite_%'
        """
      ) { try $0.next() as String }
      return try names.map { name in
        let columns = try connection.all(
          "SELECT /* test */ name FROM pragma_table_xinfo(\(name)) WHERE hidden <> 1"
        ) { try $0.next() as String }
        return (name, columns)
      }
    }
  }

  /// The tables with a text that contains a mark, in any case.
  func tables(with mark: String) async throws -> Set<String> {
    var found: Set<String> = []
    for (table, columns) in try await schema() where table != "account_search" {
      let conditions = columns.map { column in
        TestDatabase.isSQLite
          ? "instr(lower(\"\(column)\"), lower('\(mark)')) > 0"
          // Bytes become hexadecimal digits.
          : "strpos(lower(\"\(column)\"::text), lower('\(mark)')) > 0"
            + " OR strpos(\"\(column)\"::text, '\(Hex.encode(Array(mark.utf8)))') > 0"
      }
      let text = "SELECT count(*) FROM \"\(table)\" WHERE \(conditions.joined(separator: " OR "))"
      if try await test.query(text) != ["0"] { found.insert(table) }
    }
    return found
  }

  /// The files of SQLite's database whose bytes contain a mark; PostgreSQL keeps deleted rows in its
  /// files until it vacuums them.
  func filesContain(_ mark: String) -> [String] {
    guard let path = test.path else { return [] }
    return ["", "-wal"].filter { suffix in
      guard let data = FileManager.default.contents(atPath: path + suffix) else { return false }
      return data.range(of: Data(mark.utf8)) != nil
    }
  }

  /// Does what the server does after an erasure.
  func finishErasures() async throws {
    while try await identity.auditChain.seal() {}
    while try await identity.userData.continueErasures() {}
  }

  /// Creates a user who has something in every table, with a mark in every text.
  func marked() async throws -> Account {
    let device = try await markedAccount()
    try await allowBackupCodes()
    _ = try await temporaryCode(device.account)
    let code = try device.code(at: now)
    let pending = try await identity.signIns.password(
      acme, email: "qz7marker@example.com", password: Person.alice.password,
      address: "203.0.113.5")
    guard case .secondFactorDue(_, let credential, _) = pending else {
      throw Unexpected("no second factor is required")
    }
    _ = try await finalize(
      device, credential, code: code,
      from: RequestOrigin(address: "203.0.113.5", userAgent: "qz7marker browser"))
    _ = await outcome {
      try await identity.signIns.password(
        acme, email: "qz7marker@example.com", password: Person.wrong, address: "203.0.113.5")
    }
    try await addRows(of: device.account)
    return try await reload(device.account)
  }

  private func markedAccount() async throws -> Device {
    var new = NewAccount()
    new.email = "qz7marker@example.com"
    new.displayName = "qz7marker Alice"
    new.photoURL = "https://qz7marker.example.com/a.png"
    new.password = Person.alice.password
    new.emailVerified = true
    let account = try await identity.accounts.create(acme, new, by: .program(Self.boss)).value
    let outcome = try await identity.signIns.password(
      acme, email: "qz7marker@example.com", password: Person.alice.password,
      address: "203.0.113.5")
    guard case .signedIn(let grant) = outcome else { throw Unexpected("a factor is required") }
    let device = try await enroll(grant.session, name: "qz7marker phone")
    clock.advance(30)
    #expect(device.account.id == account.id)
    return device
  }

  /// Adds rows that need steps of others: administrators, applications, and providers.
  private func addRows(of account: Account) async throws {
    let (now, acme, later) = (now, acme, now.advanced(bySeconds: 3_600).microseconds)
    let (key, uid, pool) = (account.key, account.id.text, acme.key)
    try await database.write { connection in
      for statement: SQL in [
        """
        INSERT INTO /* test */ account_provider (account_key, scope_key, provider_id, raw_id, email,
          display_name, photo_url)
        VALUES (\(key), \(pool), 'oidc.staff', 'qz7marker-raw', 'qz7marker@work.example', 'qz7marker',
          'https://qz7marker.example')
        """,
        "UPDATE /* test */ account SET has_providers = 1 WHERE account_key = \(key)",
        """
        UPDATE /* test */ account SET custom_attributes = '{"a":"qz7marker"}',
          has_former_addresses = 1
        WHERE account_key = \(key)
        """,
        "INSERT INTO /* test */ former_address (account_key, address) VALUES (\(key), 'qz7marker@old')",
        "INSERT INTO /* test */ noticed_address (account_key, address) VALUES (\(key), 'qz7marker@new')",
        """
        INSERT INTO /* test */ removed_factor (account_key, enrollment_id, removal_id, removed_at,
          removed_by, remover_name, until, position, kind, display_name, enrolled_at, phone)
        VALUES (\(key), 'e-old', 'r-1', \(now), 'dora', 'Dora', \(later), 1, 'phone',
          'qz7marker old phone', \(now), '+15550100')
        """,
        """
        INSERT INTO /* test */ exemption (exemption_id, account_key, reason, note, ticket, granted_at,
          grantor_id, grantor_name, ends_at)
        VALUES (\(SQL.nextNumber("exemption_id", of: "exemption")), \(key), 'lost', 'qz7marker', 'T-1', \(now), 'dora', 'Dora', \(later))
        """,
        """
        INSERT INTO /* test */ approval (approval_id, scope_key, kind, uid, user_name, factors, factor_names,
          all_factors, users, cause, requester_id, requester_name, address, request_id, reason,
          note, ticket, proof, requested_at, expires_at, state)
        VALUES (\(SQL.nextNumber("approval_id", of: "approval")), \(pool), 'factors', \(uid), 'qz7marker@example.com', '', 'qz7marker phone', '', 1,
          'last-factor', 'dora', 'Dora', '198.51.100.7', 'r', 'lost', 'qz7marker', '', '',
          \(now), \(later), 'waiting')
        """,
        """
        INSERT INTO /* test */ bulk_job (job_id, scope_key, state, administrator_id,
          administrator_name, address, request_id, created_at, note, sentence)
        VALUES (77, \(pool), 'done', 'dora', 'Dora', '', '', \(now),
          'for qz7marker@example.com', 'Hello qz7marker@example.com')
        """,
        """
        INSERT INTO /* test */ bulk_item (scope_key, job_id, line, given, uid, factors, result)
        VALUES (\(pool), 77, 1, 'QZ7marker@example.com', \(uid), '', 'removed'),
          (\(pool), 77, 2, 'qz7marker@example.com', NULL, '', 'unknown')
        """,
        """
        INSERT INTO /* test */ campaign_user (scope_key, job_id, account_key, sent_at)
        VALUES (\(pool), 77, \(key), \(now))
        """,
        """
        INSERT INTO /* test */ caller_code (account_key, administrator_id, email, digest_key,
          code_digest, failures, sent_at, expires_at)
        VALUES (\(key), 'dora', 'qz7marker@example.com', \([0] as [UInt8]), \([0] as [UInt8]), 0, \(now),
          \(later))
        """,
        """
        INSERT INTO /* test */ oob_code (code_digest, scope_key, account_key, kind, email,
          created_at, expires_at)
        VALUES (\([1] as [UInt8]), \(pool), \(key), 'VERIFY_EMAIL', 'qz7marker@example.com',
            \(now), \(later)),
          (\([9] as [UInt8]), \(pool), NULL, 'EMAIL_SIGNIN', 'qz7marker@example.com',
            \(now), \(later))
        """,
        """
        INSERT INTO /* test */ outbox (message_id, scope_key, account_key, channel, purpose, recipient,
          language, created_at, expires_at)
        VALUES (\(SQL.nextNumber("message_id", of: "outbox")), \(pool), NULL, 'mail', 'notice', 'qz7marker@example.com', 'en',
          \(now), \(later))
        """,
        // A message to an address that only the audit log names.
        """
        INSERT INTO /* test */ outbox (message_id, scope_key, account_key, channel, purpose, recipient,
          language, created_at, expires_at)
        VALUES (\(SQL.nextNumber("message_id", of: "outbox")), \(pool), NULL, 'mail', 'notice', 'qz7marker@gone', 'en',
          \(now), \(later))
        """,
        """
        INSERT INTO /* test */ user_link (link_digest, account_key, kind, about, valid_since_s,
          created_at, expires_at)
        VALUES (\([2] as [UInt8]), \(key), 'enrollment', 'qz7marker', 0, \(now), \(later))
        """,
        """
        INSERT INTO /* test */ unreadable_secret (kind, project_id, tenant_id, object_id, part,
          reason, first_at, last_at)
        VALUES ('user-totp', \(acme.project), '', \(uid), 'qz7marker', 'changed',
          \(now), \(now))
        """,
        """
        INSERT INTO /* test */ intent (intent_id, scope_key, uid, user_name, change, requester_kind,
          requester_id, requester_name, address, request_id, reason, note, ticket, proof, state,
          cause_text, sender, sender_until, requested_at)
        VALUES (1, \(pool), \(uid), 'qz7marker@example.com', '{}', 'administrator', 'desk', 'Dora',
          '192.0.2.1', 'r', 'lost', 'qz7marker', 'qz7marker', 'qz7marker', 'unknown', 'qz7marker',
          'p', \(now), \(now))
        """,
        """
        INSERT INTO /* test */ mirror_fault (scope_key, uid, reason, walk)
        VALUES (\(pool), \(uid), 'qz7marker', 1)
        """,
        """
        UPDATE /* test */ session SET claims = '{"name":"qz7marker"}' WHERE account_key = \(key)
        """,
        """
        INSERT INTO /* test */ throttle (name, failures, blocked_until, expires_at)
        VALUES (\("sms number \(acme.key) +15550100"), 1, 0, \(later))
        """,
      ] {
        try connection.run(statement)
      }
      var entry = AuditEntry(.accountChange, .account, uid, name: "qz7marker@example.com", in: acme)
      entry.add(.email, from: .text("qz7marker@old"), to: .text("qz7marker@example.com"))
      // Addresses that the account no longer has.
      entry.add(.providerEmail, from: .text("qz7marker@gone"), to: .text("qz7marker@gone.too"))
      entry.note = "qz7marker by phone"
      try entry.record(by: Self.support, at: now, connection)
      var list = AuditEntry(.accountDownload, .pool, acme.objectID, name: acme.name, in: acme)
      list.add(.filter, .text("search qz7marker@example.com"))
      try list.record(by: Self.support, at: now, connection)
    }
  }
}
