import HTTP
import Identity
import Localization

/// `/administrators/{id}/factor-reset`: resets an administrator's second factor.
struct ResetAdministratorFactor: AdministratorForm {
  static let action = ConsoleAction.resetAdministratorFactor
  static let name = Message("Reset an administrator’s second factor")
  static let path = Path("administrators", nil, "factor-reset", parameters: String.self)
  let identity: Identity

  func page(_ target: FormTarget<SignedIn>) async throws -> FormPage {
    let record = try await other(target)
    guard record.hasSecondFactor else {
      throw target.elsewhere(ConsolePaths.administrator(target.object))
    }
    let administrator = record.administrator
    return page(
      of: administrator,
      heading: Message(
        "Reset the second factor for <bdi>{name}</bdi>?", ["name": administrator.shortText]),
      consequences: Self.resetting(administrator), button: Message("Reset second factor"))
  }

  private static func resetting(_ administrator: Administrator) -> [Message] {
    [
      Message(
        """
        Their authenticator, recovery codes, and passkeys stop working, and all their sessions \
        end.
        """),
      administrator.mustHaveSecondFactor
        ? Message(
          """
          At their next sign-in, they must set up a new second factor before they can do \
          anything else.
          """)
        : Message("At their next sign-in, the password alone is enough."),
      Message(
        """
        Verify that the request comes from them: anyone who can sign in as them can set up a \
        new second factor.
        """),
    ]
  }

  func perform(
    _ administrator: Administrator, _ target: FormTarget<SignedIn>
  ) async throws -> FormEnd {
    let outcome = try await identity.administratorFactors.reset(
      administrator.id, by: .console(target.request))
    return FormEnd(
      Message(
        "The second factor for {name} was reset, and their sessions were ended.",
        ["name": administrator.short]),
      at: ConsolePaths.administrator(target.object), after: outcome)
  }
}

/// `/administrators/{id}/removal`: removes an administrator.
struct RemoveAdministrator: AdministratorForm {
  static let action = ConsoleAction.removeAdministrator
  static let name = Message("Remove administrator")
  static let path = Path("administrators", nil, "removal", parameters: String.self)
  let identity: Identity

  func page(_ target: FormTarget<SignedIn>) async throws -> FormPage {
    let record = try await other(target)
    return page(
      of: record.administrator,
      heading: Message(
        "Remove <bdi>{name}</bdi>?", ["name": record.administrator.shortText]),
      consequences: try await removing(record), button: Message("Remove administrator"))
  }

  private func removing(_ record: AdministratorRecord) async throws -> [Message] {
    // They are revoked.
    let tokens = try await identity.serviceTokens.count(madeBy: record.administrator.id)
    var consequences = [
      Message(
        """
        All their sessions end immediately, and their roles, second factor, and recovery codes \
        are deleted.
        """)
    ]
    if tokens > 0 {
      consequences.append(
        Message(
          one: "{count} service token they created is revoked. Programs that use it lose access.",
          other: """
            {count} service tokens they created are revoked. Programs that use them lose access.
            """, ["count": .number(tokens)]))
    }
    consequences.append(Message("Their actions stay in the audit log."))
    consequences.append(
      record.groupGrants.isEmpty
        ? Message("This can’t be undone. To restore their access, invite them again.")
        : Message(
          """
          A group at the sign-in provider makes them an administrator again at their next \
          sign-in. To prevent that, remove them from the group, or change the group’s role.
          """))
    return consequences
  }

  func perform(
    _ administrator: Administrator, _ target: FormTarget<SignedIn>
  ) async throws -> FormEnd {
    let name = administrator.short
    let outcome = try await identity.administrators.remove(
      administrator.id, by: .console(target.request))
    let tokens = outcome.value
    return FormEnd(
      tokens == 0
        ? Message("{name} is no longer an administrator.", ["name": name])
        : Message(
          one: """
            {name} is no longer an administrator. {count} service token they created was \
            revoked.
            """,
          other: """
            {name} is no longer an administrator. {count} service tokens they created were \
            revoked.
            """, ["name": name, "count": .number(tokens)]),
      at: ConsolePaths.administrators(), after: outcome)
  }
}

/// A form about another administrator, whose email address is typed as confirmation.
protocol AdministratorForm: FormAction<SignedIn>
where Input == Administrator, Reason == ManagementError {
  var identity: Identity { get }
}

extension AdministratorForm {
  /// Returns whom the form is about; their page says it all to themselves.
  fileprivate func other(_ target: FormTarget<SignedIn>) async throws -> AdministratorRecord {
    let record = try await identity.administrators.record(ID(target.object))
    guard record.administrator.id != target.signedIn.administrator.id else {
      throw target.elsewhere(ConsolePaths.administrator(target.object))
    }
    return record
  }

  fileprivate func page(
    of administrator: Administrator, heading: Message, consequences: [Message], button: Message
  ) -> FormPage {
    FormPage(
      title: administrator.title(button), crumbs: administrator.crumbs, heading: heading,
      consequences: consequences,
      fields: [
        .line(
          "confirmation",
          Message("To continue, type <bdi>{email}</bdi>", ["email": .text(administrator.email)]),
          Field.Look.medium)
      ], button: button, isDestructive: true,
      back: ConsolePaths.administrator(administrator.id.text))
  }

  func input(_ target: FormTarget<SignedIn>) async throws -> Administrator {
    let administrator = try await identity.administrators.record(ID(target.object)).administrator
    guard administrator.hasEmail(target.form.trimmed("confirmation")) else {
      throw InvalidInput.field(
        "confirmation", Message("The email address doesn’t match. Type it exactly as shown."))
    }
    return administrator
  }

  func fault(_ error: ManagementError, _ target: FormTarget<SignedIn>) throws -> FieldError {
    switch error {
    case .notAllowed: throw Refusal.notAllowed(.manageAdministrators)
    case .oneself:
      return FieldError(
        field: "confirmation",
        text: Message(
          """
          You can’t do this to your own account. Ask another administrator with the {roles} role.
          """, ["roles": Permission.manageAdministrators.roleNames]))
    case .lastOwner:
      return FieldError(field: "confirmation", text: GrantText.lastOwner)
    case .breakGlassAccount:
      return FieldError(field: "confirmation", text: GrantText.breakGlass)
    case .poolNotFound, .invalidEmail, .invalidName, .emailTaken, .endInPast,
      .endTooLate, .roleFromGroup, .passwordSignInOff:
      throw Refusal.notFound
    }
  }
}

extension Administrator {
  var short: Message.Value { .name(Formatted.short(displayName)) }

  /// The name in markup that isolates it already.
  fileprivate var shortText: Message.Value { .text(Formatted.short(displayName)) }

  func title(_ title: Message) -> Message {
    Message("{title} · {name} · Administrators", ["title": .message(title), "name": short])
  }

  var crumbs: [Link] {
    [
      Link(text: Message("Administrators"), href: ConsolePaths.administrators()),
      Link(
        text: .verbatim(Formatted.short(displayName)), href: ConsolePaths.administrator(id.text)),
    ]
  }
}
