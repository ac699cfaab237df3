import HTTP
import Identity
import Localization
import Templating

/// `/administrators/{id}/factor-reset` and `/administrators/{id}/removal`: perform the action after
/// the administrator's email address is typed as confirmation.
struct ActOnAdministrator: FormAction {
  enum Kind: Sendable {
    case reset, remove
  }

  let kind: Kind
  let identity: Identity

  var action: ConsoleAction {
    kind == .reset ? .resetAdministratorFactor : .removeAdministrator
  }

  func page(_ target: FormTarget<SignedIn>) async throws -> FormPage {
    let record = try await identity.administrators.record(ID(target.object))
    let administrator = record.administrator
    let back = ConsolePaths.administrator(target.object)
    guard administrator.id != target.signedIn.administrator.id,
      kind == .remove || record.hasSecondFactor
    else { throw target.elsewhere(back) }
    let name = Message.Value.text(Formatted.short(administrator.displayName))
    let button = kind == .reset ? Message("Reset second factor") : Message("Remove administrator")
    return FormPage(
      title: administrator.title(button),
      crumbs: administrator.crumbs,
      heading: kind == .reset
        ? Message("Reset the second factor for <bdi>{name}</bdi>?", ["name": name])
        : Message("Remove <bdi>{name}</bdi>?", ["name": name]),
      consequences: kind == .reset
        ? Self.resetting(administrator) : try await removing(record),
      fields: [
        .line(
          "confirmation",
          Message("To continue, type <bdi>{email}</bdi>", ["email": .text(administrator.email)]),
          Field.Look.medium)
      ], button: button, isDestructive: true, back: back)
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

  func input(_ target: FormTarget<SignedIn>) async throws -> Administrator {
    let administrator = try await identity.administrators.record(ID(target.object)).administrator
    guard administrator.hasEmail(target.form.trimmed("confirmation")) else {
      throw InvalidInput.field(
        "confirmation", Message("The email address doesn’t match. Type it exactly as shown."))
    }
    return administrator
  }

  func perform(
    _ administrator: Administrator, _ target: FormTarget<SignedIn>, _ request: ActionRequest
  ) async throws -> FormEnd {
    let name = administrator.short
    guard kind == .remove else {
      let outcome = try await identity.administratorFactors.reset(
        administrator.id, by: .console(request))
      return FormEnd(
        Message(
          "The second factor for {name} was reset, and their sessions were ended.", ["name": name]),
        at: ConsolePaths.administrator(target.object), after: outcome)
    }
    let outcome = try await identity.administrators.remove(administrator.id, by: .console(request))
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

  func fault(
    _ error: ManagementError, _ target: FormTarget<SignedIn>
  ) throws -> FieldError {
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
    case .notFound, .poolNotFound, .invalidEmail, .invalidName, .emailTaken, .endInPast,
      .endTooLate, .roleFromGroup, .passwordSignInOff:
      throw Refusal.notFound
    }
  }
}

extension Administrator {
  var short: Message.Value { .name(Formatted.short(displayName)) }

  /// The title of a page below the administrator's.
  func title(_ title: Message) -> Message {
    Message("{title} · {name} · Administrators", ["title": .message(title), "name": short])
  }

  /// The breadcrumbs of a page about the administrator.
  var crumbs: [Link] {
    [
      Link(text: Message("Administrators"), href: ConsolePaths.administrators()),
      Link(
        text: .verbatim(Formatted.short(displayName)), href: ConsolePaths.administrator(id.text)),
    ]
  }
}
