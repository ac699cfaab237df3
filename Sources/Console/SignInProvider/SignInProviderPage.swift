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
    return try await page(signedIn, SignInProviderAnswers(stored ?? ConsoleProvider()))
  }

  func save(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    var answers = SignInProviderAnswers(signedIn.form)
    guard answers.errors.isEmpty, !answers.secret.isMissing else {
      let errors = answers.errors + (try await actions.unmet(Self.action, signedIn))
      return try await page(signedIn, answers, errors: errors)
    }
    do {
      let outcome = try await providers.save(
        answers.provider, secret: answers.newSecret, expecting: answers.version,
        actions.request(signedIn))
      let text =
        outcome.value
        ? Message("sign-in-provider.saved") : Message("administrators.no-changes-made")
      return actions.leave(text, signedIn, after: outcome, to: ConsolePaths.signInProvider())
    } catch {
      switch error {
      case .failed(.changedMeanwhile(let current)):
        let present = current ?? ConsoleProvider()
        answers.version = present.version
        return try await page(signedIn, answers, replacing: present)
      case .failed(.invalid(let faults)):
        let errors =
          faults.map(\.fieldError) + (try await actions.unmet(Self.action, signedIn))
        return try await page(signedIn, answers, errors: errors)
      case .failed(let failure): throw .unavailable(failure)
      case .refused(let refusal):
        let errors = try ActionForms.faults(refusal, Self.action, signedIn)
        return try await page(signedIn, answers, errors: errors)
      }
    }
  }

  private func page(
    _ signedIn: SignedIn, _ answers: SignInProviderAnswers, errors: [FieldError] = [],
    replacing current: ConsoleProvider? = nil
  ) async throws(Refusal) -> Response {
    let stored = try await refusing { try await providers.find() }
    let records = try await refusing { try await identity.administrators.records() }
    var frame = actions.frames.frame(Message("sign-in-provider.title"), for: signedIn)
    frame.errors = errors
    if answers.secret.isLost {
      frame.errors.append(
        FieldError(
          field: answers.secret.name, text: Message("sign-in-provider.client-secret-again")))
    }
    frame.crumbs = [
      Link(text: Message("administrators.administrators"), href: ConsolePaths.administrators())
    ]
    let isRefused = !frame.errors.isEmpty
    let framed = FrameView(frame)
    let model = SignInProviderView(
      frame: framed, csrf: signedIn.session.csrfToken, answers: answers, stored: stored,
      current: current,
      accounts: records.map(\.administrator).filter { $0.may(.manageAdministrators, in: nil) },
      origin: publicURL.origin, carriesMail: identity.messages.carriesMail,
      fields: try await actions.fields(Self.action, signedIn, framed))
    let status: Status =
      current != nil ? .conflict : isRefused ? .unprocessableContent : .ok
    return .html(view.render(model), status: status)
  }
}

extension ConsoleProviderFault {
  var fieldError: FieldError {
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
    case .invalidGroup(let line):
      FieldError(
        field: "roles",
        text: Message(
          "sign-in-provider.group-too-long",
          ["number": .number(line), "count": .number(ProviderGroups.longest)]))
    case .placeNotFound(let line):
      FieldError(
        field: "roles",
        text: Message("sign-in-provider.place-not-found", ["number": .number(line)]))
    case .tooManyRoles:
      FieldError(
        field: "roles",
        text: Message(
          "sign-in-provider.too-many-roles", ["count": .number(ConsoleProvider.mostRoles)]))
    case .notProved:
      FieldError(
        field: "break-glass-account", text: Message("sign-in-provider.sign-in-with-it-first"))
    case .invalidBreakGlassAccount:
      FieldError(
        field: "break-glass-account", text: Message("sign-in-provider.not-eligible"))
    case .noOwnSignIn:
      FieldError(
        field: "issuer",
        text: Message(
          "sign-in-provider.issuer-needs-own-sign-in",
          ["holder": .message(Permission.manageAdministrators.holder)]))
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
