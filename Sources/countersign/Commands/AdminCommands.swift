import Crypto
import Foundation
import Identity
import Localization
import MailText

enum AdminCreateCommand: Command {
  static let name = "admin create"
  static let summary = Message(
    "creates an administrator; prompts for the password, or reads it from standard input")
  static let options =
    Instance.options + [
      Option(
        "email", "E", variable: false, help: Message("The administrator's email address.")),
      Option(
        "name", "NAME", variable: false,
        help: Message("Display name (default: the email address).")),
      Option("role", "ROLE", variable: false, help: Message("{roles}.", ["roles": roles])),
      Option(
        "project", "P", variable: false,
        help: Message("Grant the role in this project only (default: the whole instance).")),
      Option(
        "tenant", "T", variable: false,
        help: Message("Grant the role in this tenant of the project only.")),
    ]

  private static var roles: Message.Value {
    .choice(Role.allCases.map { .verbatim($0.rawValue) })
  }

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let email = try arguments.required("email")
    let word = try arguments.required("role")
    guard let role = Role(rawValue: word) else {
      throw UsageError(
        Message("unknown role {role}; use {roles}", ["role": .text(word), "roles": roles]))
    }
    if arguments.has("tenant"), !arguments.has("project") {
      throw UsageError(Message("--tenant requires --project"))
    }
    let grant = Grant(
      role: role, project: arguments.value("project").map { ID($0) },
      tenant: arguments.value("tenant").map { ID($0) })
    return try await Instance.use(arguments) { instance in
      do {
        if let project = grant.project {
          _ = try await instance.pool(
            project.text, tenant: grant.tenant?.text, needs: .bookkeeping)
        }
        try await instance.identity.administrators.check(newEmail: email)
        let password = try PasswordPrompt.read()
        let administrator = try await instance.identity.administrators.create(
          email: email, displayName: arguments.value("name") ?? email,
          password: password, grant: grant, by: Author(actor: .commandLine))
        Terminal.say(
          Message(
            "Created {email}: {grant}.",
            ["email": .text(administrator.email), "grant": .message(grant.message)]))
        try await AdminCommands.warnWithoutPasswords(administrator, instance)
        return 0
      } catch let error as AdministratorError {
        throw ConfigurationError(sentence(error, instance))
      } catch CryptoError.busy {
        throw ConfigurationError(Message("Too many passwords are being hashed. Try again."))
      } catch is PoolLookupError {
        throw ConfigurationError(
          Instance.notFound(grant.project?.text ?? "", tenant: grant.tenant?.text))
      }
    }
  }

  private static func sentence(
    _ error: AdministratorError, _ instance: Instance
  ) -> Message {
    switch error {
    case .emailTaken: Message("An administrator with this email address already exists.")
    case .invalidEmail: Message("Enter a valid email address.")
    case .invalidName: Message("The name must be 1 to 100 characters long.")
    case .weakPassword(let why): AdminCommands.tooWeak(why, instance)
    }
  }
}

enum AdminListCommand: Command {
  static let name = "admin list"
  static let summary = Message(
    "lists administrators, their roles, and whether they have a second factor")
  static let options = Instance.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      let records = try await instance.identity.administrators.records()
      for record in records {
        let administrator = record.administrator
        let grants = Message.value(.sequence(administrator.grants.map(\.message)))
        let factor =
          record.hasSecondFactor ? Message("second factor") : Message("no second factor")
        Terminal.say(
          columns: [administrator.email, administrator.displayName]
            + [grants, factor].map(OperatorText.string))
      }
      if records.isEmpty { Terminal.complain(Message("No administrators yet.")) }
      return 0
    }
  }
}

enum AdminResetPasswordCommand: Command {
  static let name = "admin reset-password"
  static let summary = Message(
    """
    resets an administrator's password; prompts for it, or reads it from standard input; ends \
    their sessions
    """)
  static let options = Instance.options + [AdminCommands.emailOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let email = try arguments.required("email")
    return try await Instance.use(arguments) { instance in
      let password = try PasswordPrompt.read()
      let administrator = try await AdminCommands.find(email, instance)
      do {
        try await instance.identity.ownAccount.resetPassword(
          of: administrator, new: password, by: Author(actor: .commandLine))
        Terminal.say(
          Message(
            "Reset the password of {email} and ended their sessions.",
            ["email": .text(administrator.email)]))
        try await AdminCommands.warnWithoutPasswords(administrator, instance)
        return 0
      } catch AdministratorError.weakPassword(let why) {
        throw ConfigurationError(AdminCommands.tooWeak(why, instance))
      } catch CallError.notFound {
        throw ConfigurationError(AdminCommands.unknownEmail)
      }
    }
  }
}

enum AdminResetTOTPCommand: Command {
  static let name = "admin reset-totp"
  static let summary = Message(
    "removes an administrator's second factor, recovery codes, and passkeys; ends their sessions")
  static let options = Instance.options + [AdminCommands.emailOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let email = try arguments.required("email")
    return try await Instance.use(arguments) { instance in
      let administrator = try await AdminCommands.find(email, instance)
      do {
        try await instance.identity.administratorFactors.reset(
          administrator.id, by: .program(Author(actor: .commandLine)))
        Terminal.say(
          Message(
            "Removed the second factor and passkeys of {email} and ended their sessions.",
            ["email": .text(administrator.email)]))
        return 0
      } catch CallError.notFound {
        throw ConfigurationError(
          Message("{email} has no second factor.", ["email": .text(administrator.email)]))
      } catch ManagementError.lastOwner {
        throw ConfigurationError(
          Message(
            """
            {email} couldn't sign in without this second factor, and no one else could manage \
            administrators permanently. Run countersign admin reset-password first.
            """, ["email": .text(administrator.email)]))
      } catch ManagementError.breakGlassAccount {
        throw ConfigurationError(
          Message(
            """
            {email} is the break-glass account, and couldn't sign in without this second factor. \
            Run countersign admin passwords-on first.
            """, ["email": .text(administrator.email)]))
      }
    }
  }
}

/// A command that lifts a restriction on how administrators sign in, in case no one can.
protocol SignInRecoveryCommand: Command {
  static var done: Message { get }
  static var unchanged: Message { get }

  /// Lifts the restriction, and returns false if there is none.
  static func lift(_ identity: Identity, by author: Author) async throws -> Bool
}

extension SignInRecoveryCommand {
  static var options: [Option] { Instance.options }

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      let changed = try await lift(instance.identity, by: Author(actor: .commandLine))
      Terminal.say(changed ? done : unchanged)
      return 0
    }
  }
}

enum AdminPasskeysOptionalCommand: SignInRecoveryCommand {
  static let name = "admin passkeys-optional"
  static let summary = Message("stops requiring passkeys, in case no one can sign in")
  static let done = Message("Passkeys are no longer required.")
  static let unchanged = Message("Passkeys weren't required.")

  static func lift(_ identity: Identity, by author: Author) async throws -> Bool {
    try await identity.passkeys.setRequired(false, by: .program(author)).value
  }
}

enum AdminPasswordsOnCommand: SignInRecoveryCommand {
  static let name = "admin passwords-on"
  static let summary = Message(
    "turns on sign-in with passwords and passkeys, in case the provider fails")
  static let done = Message("Administrators can sign in with passwords and passkeys again.")
  static let unchanged = Message("Password sign-in wasn't off.")

  static func lift(_ identity: Identity, by author: Author) async throws -> Bool {
    try await identity.consoleProviders.turnOnPasswordSignIn(by: author)
  }
}

enum AdminUnblockCommand: Command {
  static let name = "admin unblock"
  static let summary = Message("unblocks an administrator who hit the hourly action limit")
  static let options = Instance.options + [AdminCommands.emailOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let email = try arguments.required("email")
    return try await Instance.use(arguments) { instance in
      let administrator = try await AdminCommands.find(email, instance)
      let support = instance.identity.support
      let held = try await support.held(administrator.id)
      guard !held.isEmpty else {
        throw ConfigurationError(
          Message("{email} isn't blocked.", ["email": .text(administrator.email)]))
      }
      for place in held {
        try await support.unblock(
          administrator.id, in: place.pool, by: .program(Author(actor: .commandLine)))
      }
      Terminal.say(Message("Unblocked {email}.", ["email": .text(administrator.email)]))
      return 0
    }
  }
}

enum AdminCommands {
  static let emailOption = Option(
    "email", "E", variable: false, help: Message("The administrator's email address."))
  static let unknownEmail = Message("No administrator has this email address.")

  static func tooWeak(_ why: WeakPassword, _ instance: Instance) -> Message {
    Message(
      "The password is too weak. {advice}",
      ["advice": .text(instance.catalogs[0].text(why.message))])
  }

  static func warnWithoutPasswords(
    _ administrator: Administrator, _ instance: Instance
  ) async throws {
    guard let account = try await instance.identity.consoleProviders.breakGlassAccount(),
      account != administrator.id
    else { return }
    Terminal.complain(
      Message(
        """
        Password sign-in is off, so {email} can't sign in with this password. To turn it on, run \
        countersign admin passwords-on.
        """, ["email": .text(administrator.email)]))
  }

  static func find(_ email: String, _ instance: Instance) async throws -> Administrator {
    do {
      return try await instance.identity.administrators.record(email: email).administrator
    } catch CallError.notFound {
      throw ConfigurationError(unknownEmail)
    }
  }
}
