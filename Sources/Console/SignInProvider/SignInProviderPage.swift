import HTTP
import Identity
import Localization
import OpenIDConnect
import Templating

/// `/administrators/sign-in-provider`: the provider with which administrators sign in.
struct SignInProviderPage: Sendable {
  let identity: Identity
  let publicURL: PublicURL
  let actions: ActionForms
  let view: Template<SignInProviderView>

  private static let action = ConsoleAction.changeSignInProvider
  private var providers: ConsoleProviders { identity.consoleProviders }

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let stored = try await refusing { try await providers.find() }
    return try await page(signedIn, SignInProviderAnswers(stored ?? ConsoleProvider()), stored)
  }

  func save(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    var answers = SignInProviderAnswers(signedIn.form)
    let (provider, rowErrors) = answers.provider
    guard rowErrors.isEmpty, !answers.secret.isMissing else {
      let errors = rowErrors + (try await actions.unmet(Self.action, signedIn))
      return try await refused(signedIn, answers, errors: errors)
    }
    do {
      let outcome = try await providers.save(
        provider, secret: answers.newSecret, expecting: answers.version,
        confirming: answers.confirmed, actions.request(signedIn))
      let text =
        outcome.value
        ? Message("sign-in-provider.saved") : Message("administrators.no-changes-made")
      return actions.leave(text, signedIn, after: outcome, to: ConsolePaths.signInProvider())
    } catch {
      switch error {
      case .failed(.changedMeanwhile(let current)):
        let present = current ?? ConsoleProvider()
        answers.version = present.version
        return try await page(signedIn, answers, current, replacing: present)
      case .failed(.unconfirmed(let changes)):
        return try await refused(signedIn, answers, changes: changes)
      case .failed(.invalid(let faults)):
        let errors =
          faults.map(\.fieldError) + (try await actions.unmet(Self.action, signedIn))
        return try await refused(signedIn, answers, errors: errors)
      case .failed(.noOwnSignIn):
        let fault = FieldError(
          field: "issuer",
          text: Message(
            "sign-in-provider.issuer-needs-own-sign-in",
            ["holder": .message(Permission.manageAdministrators.holder)]))
        let errors = [fault] + (try await actions.unmet(Self.action, signedIn))
        return try await refused(signedIn, answers, errors: errors)
      case .failed(let failure): throw .unavailable(failure)
      case .refused(let refusal):
        let errors = try ActionForms.faults(refusal, Self.action, signedIn)
        return try await refused(signedIn, answers, errors: errors)
      }
    }
  }

  /// Shows what the entered mapping would change, without saving it.
  func preview(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let stored = try await refusing { try await providers.find() }
    let answers = SignInProviderAnswers(signedIn.form)
    var (provider, errors) = answers.provider
    // A row that isn't valid has no number of its own among the roles.
    if errors.isEmpty {
      let provider = provider
      errors = try await refusing { try await providers.missingPlaces(of: provider) }
        .map(\.fieldError)
    }
    let groups = SignInProviderAnswers.lines(answers.previewGroups)
    let grants = try await refusing { try await providers.grants(of: groups, by: provider) }
    var preview = SignInProviderPreview(groups: groups, grants: Array(grants))
    if !answers.previewSubject.isEmpty {
      preview.subject = answers.previewSubject
      preview.change = try await refusing {
        try await providers.change(of: answers.previewSubject, by: provider)
      }
    }
    preview.changes = try await refusing { try await providers.changes(by: provider) }
    return try await page(signedIn, answers, stored, errors: errors, preview: preview)
  }

  private func refused(
    _ signedIn: SignedIn, _ answers: SignInProviderAnswers, changes: [ProviderRoleChange] = [],
    errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let stored = try await refusing { try await providers.find() }
    return try await page(signedIn, answers, stored, changes: changes, errors: errors)
  }

  private func page(
    _ signedIn: SignedIn, _ answers: SignInProviderAnswers, _ stored: ConsoleProvider?,
    changes: [ProviderRoleChange] = [], errors: [FieldError] = [],
    preview: SignInProviderPreview? = nil, replacing current: ConsoleProvider? = nil
  ) async throws(Refusal) -> Response {
    let places = try await Places(identity: identity).few(for: signedIn.administrator)
    var errors = errors
    if answers.secret.isLost {
      errors.append(
        FieldError(
          field: answers.secret.name, text: Message("sign-in-provider.client-secret-again")))
    }
    var frame = actions.frames.frame(Message("sign-in-provider.title"), for: signedIn)
    frame.errors = errors
    frame.crumbs = [
      Link(text: Message("administrators.administrators"), href: ConsolePaths.administrators())
    ]
    let framed = FrameView(frame)
    let model = SignInProviderView(
      frame: framed, csrf: signedIn.session.csrfToken, answers: answers, stored: stored,
      current: current, places: places, origin: publicURL.origin, changes: changes,
      preview: preview,
      fields: try await actions.fields(Self.action, signedIn, framed))
    let isRefused = !errors.isEmpty || !changes.isEmpty
    let status: Status =
      current != nil ? .conflict : isRefused ? .unprocessableContent : .ok
    return .html(view.render(model), status: status)
  }
}

extension ConsoleProviderFault {
  /// The error at the field of the form.
  fileprivate var fieldError: FieldError {
    switch self {
    case .invalidName: FieldError(field: "name", text: Message("sign-in-provider.name-invalid"))
    case .invalidIssuer:
      FieldError(field: "issuer", text: Message("sign-in-provider.issuer-invalid"))
    case .invalidClientID:
      FieldError(field: "client-id", text: Message("sign-in-provider.client-id-invalid"))
    case .invalidGroupsClaim:
      FieldError(field: "groups-claim", text: Message("sign-in-provider.groups-claim-invalid"))
    case .invalidScopes:
      FieldError(field: "scopes", text: Message("sign-in-provider.scopes-invalid"))
    case .invalidMFAValues:
      FieldError(
        field: "mfa-values",
        text: Message(
          "sign-in-provider.mfa-values-invalid",
          ["count": .number(ConsoleProvider.mostMFAValues)]))
    case .invalidGroup(let row):
      FieldError(
        field: "group-\(row)",
        text: Message(
          "sign-in-provider.group-too-long", ["count": .number(ProviderGroups.longest)]))
    case .placeNotFound(let row):
      FieldError(field: "place-\(row)", text: Message("sign-in-provider.place-not-found"))
    case .tooManyRoles:
      FieldError(
        field: "group-1",
        text: Message(
          "sign-in-provider.too-many-roles", ["count": .number(ConsoleProvider.mostRoles)]))
    case .unreachable(let diagnosis):
      FieldError(
        field: "issuer",
        text: Message("sign-in-provider.cant-reach", ["diagnosis": .text(diagnosis)]))
    case .discovery(let fault): FieldError(field: "issuer", text: fault.message)
    case .invalidAddress(let name):
      FieldError(
        field: "issuer",
        text: Message("sign-in-provider.address-invalid", ["member": .text(name)]))
    case .noKeys: FieldError(field: "issuer", text: Message("sign-in-provider.no-keys"))
    }
  }
}

extension Discovery.Fault {
  fileprivate var message: Message {
    switch self {
    case .unreadable: Message("sign-in-provider.document-unreadable")
    case .otherIssuer: Message("sign-in-provider.other-issuer")
    case .missing(let name):
      Message("sign-in-provider.member-missing", ["member": .text(name)])
    case .noCodeFlow: Message("sign-in-provider.no-code-flow")
    case .noPKCE: Message("sign-in-provider.no-pkce")
    case .noAlgorithm: Message("sign-in-provider.no-algorithm")
    }
  }
}
