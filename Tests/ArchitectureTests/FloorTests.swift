import Testing

/// The floors of Identity, the lowest first.
private let floors = ["Core", "Staff", "Directory", "Users", "Support", "Operations"]

/// The files that name a type of a higher floor, with those types, by the reason; no file and no type is
/// added to it.
private let rising: [String: [String: [String]]] = [
  "every use case gets them with the store": [
    "Core/Store.swift": ["AdministratorTOTP", "Outbox"]
  ],
  "the name of each counter is composed in one file": [
    "Core/CounterName.swift": ["Administrator", "OwnChange", "ServiceToken"]
  ],
  "the audit log has each master key, and each secret that doesn't open": [
    "Core/Keys/MasterKeys.swift": ["AuditEntry", "Author"],
    "Core/Keys/UnreadableSecrets.swift": [
      "Administrator", "AuditEntry", "AuditResource", "Author",
    ],
  ],
  "the gate follows the support rules, checks the caller, and one type has all its denials": [
    "Staff/Authorization/ActionAuthorization.swift": ["SupportRules"],
    "Staff/Authorization/ActionRequest.swift": [
      "EnrollmentError", "SupportRules", "SupportRulesError",
    ],
    "Staff/Authorization/Gate.swift": [
      "Account", "AccountRecord", "CallerCheck", "CallerCode", "CallerProof", "DirectoryChange",
      "HourlyLimit", "NewApproval", "Outbox", "SupportRules",
    ],
  ],
  "a user can be an author, and an entry or message is about one": [
    "Staff/Administrators/ConsoleStorage.swift": ["Account", "TemporaryCode"],
    "Staff/Audit/Audit.swift": ["Account", "OwnChange"],
    "Staff/Audit/AuditValue.swift": ["Factor"],
    "Staff/Authorization/Author.swift": ["Account"],
    "Staff/Authorization/ConsoleAction.swift": ["Account"],
  ],
  "a role or a token is for a pool that exists, and ends with it": [
    "Staff/Administrators/Administrators+Grants.swift": ["Deletion", "Outbox", "Pools"],
    "Staff/Administrators/Administrators.swift": ["Pools"],
    "Staff/ServiceTokens/ServiceTokens.swift": ["Pools"],
  ],
  "administrators get emails, and their codes are those of users": [
    "Staff/Administrators/AdministratorFactors.swift": ["SignInMethodMail", "TOTPFactor"],
    "Staff/Administrators/AdministratorTOTP.swift": ["TOTPFactor"],
    "Staff/Administrators/ConsoleSessions+SignIn.swift": ["AdministratorSignInMail"],
    "Staff/ConsoleProvider/ConsoleProviders+Admit.swift": ["Outbox"],
    "Staff/ConsoleProvider/PasswordSignIn.swift": ["Alerts", "Outbox"],
  ],
  "an account's sessions, codes, locks, and removed factors end with it or its credentials": [
    "Directory/Accounts/AccountLock.swift": ["OutOfBandRecord", "SignIns"],
    "Directory/Accounts/AccountRecord.swift": ["CodeEnd", "OutOfBandRecord", "Sessions"],
    "Directory/Accounts/Accounts+Update.swift": [
      "OutOfBandError", "Sessions", "SignInChange", "SignIns", "TokenFactorRules",
    ],
    "Directory/Accounts/Accounts.swift": ["DeletionRules", "OutOfBandRecord", "Sessions"],
    "Directory/Factors/Factor.swift": ["RemovedFactors"],
  ],
  "a limit or a clock is that of a use case": [
    "Directory/Accounts/AccountRules.swift": ["ReservedClaims"],
    "Directory/Accounts/Accounts+Factors.swift": ["Enrollments"],
    "Directory/Activity/Activity+Counts.swift": ["ClockGuard"],
    "Users/SignIn/Ticket.swift": ["ClockGuard"],
  ],
  "a message has the link or the report that it's about": [
    "Directory/Outbox/MailWriter.swift": ["OutOfBandCode", "ReportedChange", "SignOff"],
    "Directory/Outbox/Outbox.swift": ["OutOfBandCode"],
    "Directory/Outbox/UserNotice.swift": ["UserLink"],
  ],
  "an attempt has its error, and a code sent to a phone its ticket": [
    "Directory/CodeAttempts/CodeAttemptRecord.swift": ["SignInError"],
    "Directory/Phones/PhoneCodes.swift": ["Ticket"],
  ],
  "a policy or a deletion asks for approval, and ends what support began in the pool": [
    "Directory/Policy/Policies.swift": [
      "Approval", "IdentityProviders", "NewApproval", "WatchedPolicyFile",
    ],
    "Directory/Pools/Deletion.swift": ["Approvals", "BulkRemovals"],
  ],
  "a provider is a way to sign in": [
    "Directory/Pools/SignInNarrowing.swift": ["IdentityProvider", "ProviderSettings"]
  ],
  "support decides what a program may change": [
    "Users/Import/ImportBatch+Replace.swift": ["TokenFactorRules"]
  ],
]

/// Each file of Identity refers to types of its floor and of lower ones; those above all folders wire
/// the floors.
struct FloorTests {
  static var listed: [String] {
    rising.values.flatMap { files in
      files.flatMap { file, types in types.map { "\(file): \($0)" } }
    }
  }

  @Test func `docs/architecture.md has the folders of each floor, the lowest last`() throws {
    let paths = try SourceTree.files(in: "Sources/Identity").map { $0.path.split(separator: "/") }
    let blocks = try SourceTree.file("docs/architecture.md").text.split(separator: "```\n")
    let picture = try #require(blocks.first { $0.hasPrefix("Operations") })
    let listed = picture.split(separator: "\n").map { $0.split(separator: " ") }
    #expect(listed.map(\.first) == floors.reversed().map { $0[...] })
    for floor in listed {
      let folders = Set(paths.filter { $0[2] == floor[0] && $0.count > 4 }.map { $0[3] })
      #expect(floor.dropFirst() == folders.sorted()[...])
    }
  }

  @Test func `no file refers to a type of a higher floor, except for those listed`() throws {
    let found = try Self.references(SourceTree.files(in: "Sources/Identity"))
    let listed = Self.listed
    #expect(found.subtracting(listed).sorted() == [], "refers to a type of a higher floor")
    #expect(Set(listed).subtracting(found).sorted() == [], "no longer there: shorten the list")
    #expect(listed.count == Set(listed).count)
  }

  @Test(arguments: [
    ("let a: Account", 1), ("let a = Account.find(1)", 1), ("extension Account {}", 1),
    ("let a = \"\\(Account.columns)\"", 1), ("let a: [Account]; let b: Account?", 1),
    ("// Account", 0), ("let a = \"Account\"", 0), ("let a: Other.Account", 0),
    ("let a: AccountList", 0), ("  struct Account {}\nlet a: Account", 0), ("let a: Store", 0),
  ])
  func `a reference to a higher floor is found`(_ text: String, _ count: Int) throws {
    let files = [
      SourceFile(path: "Sources/Identity/Core/A.swift", text: text),
      SourceFile(path: "Sources/Identity/Core/Store.swift", text: "final class Store {}"),
      SourceFile(
        path: "Sources/Identity/Directory/Account.swift",
        text: "public struct Account {}\nprivate struct Store {}"),
      SourceFile(path: "Sources/Identity/Identity.swift", text: "let a: Account"),
    ]
    #expect(try Self.references(files).count == count)
  }

  /// Returns each reference of a file to a type of a higher floor, as `folder/file: type`.
  private static func references(_ files: [SourceFile]) throws -> Set<String> {
    let parts = try files.compactMap(Part.init)
    let types = parts.reduce(into: [Substring: Part]()) { types, part in
      for type in part.names.types { types[type] = part }
    }
    return parts.reduce(into: []) { found, part in
      for word in part.names.words.subtracting(part.names.nested)
      where types[word].map({ $0.floor > part.floor }) ?? false {
        found.insert("\(part.file): \(word)")
      }
    }
  }

  /// A file of a floor.
  private struct Part {
    /// The path from the folder of Identity.
    let file: Substring
    let floor: Int
    let names: NamedTypes

    /// Reads a file; nil for one that isn't in a folder.
    init?(_ source: SourceFile) throws {
      file = source.path.dropFirst("Sources/Identity/".utf8.count)
      guard let end = file.firstIndex(of: "/") else { return nil }
      floor = try #require(floors.firstIndex(of: String(file[..<end])), "\(file)")
      names = try NamedTypes(source)
    }
  }
}

/// The types that a file declares, and the words that can be types.
struct NamedTypes {
  private(set) var types: Set<Substring> = []
  private(set) var nested: Set<Substring> = []
  private(set) var words: Set<Substring> = []

  /// `member` is one whose use doesn't count as that of its type.
  init(_ source: SourceFile, except member: Substring? = nil) throws {
    let code = try #require(StringLiteral.code(around: source), "\(source)")
    for line in code.split(separator: "\n") { read(line, except: member) }
  }

  private mutating func read(_ line: Substring, except member: Substring?) {
    let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
    let tokens = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." }
    if let kind = tokens.firstIndex(where: kinds.contains), kind + 1 < tokens.count {
      let isOfFloor = line.first != " " && !tokens[..<kind].contains { $0.hasSuffix("private") }
      if isOfFloor { types.insert(tokens[kind + 1]) } else { nested.insert(tokens[kind + 1]) }
    }
    for token in tokens where token.first != "." {
      let names = token.split(separator: ".")
      guard let word = names.first, word.first?.isUppercase == true,
        member == nil || names.dropFirst().first != member
      else { continue }
      words.insert(word)
    }
  }
}
