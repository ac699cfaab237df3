import HTTP
import Identity
import Localization
import OpenIDConnect
import Templating

/// `/administrators/sign-in-provider`: the provider with which administrators sign in.
struct SignInProviderPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<SignInProviderView>

  private static let action = ConsoleAction.changeSignInProvider

  func show(_ signedIn: SignedIn) async throws -> Response {
    let stored = try await identity.consoleProviders.find()
    return try await page(signedIn, SignInProviderAnswers(stored ?? ConsoleProvider()))
  }

  func save(_ signedIn: SignedIn) async throws -> Response {
    var answers = SignInProviderAnswers(signedIn.form)
    guard answers.errors.isEmpty, !answers.secret.isMissing else {
      let errors = answers.errors + (try await actions.unmet(Self.action, signedIn))
      return try await page(signedIn, answers, errors: errors)
    }
    do {
      let outcome = try await identity.consoleProviders.save(
        answers.provider, secret: answers.newSecret, expecting: answers.version,
        actions.request(signedIn))
      let text =
        outcome.value
        ? Message("The sign-in provider was saved.") : Message("No changes made.")
      return actions.leave(text, signedIn, after: outcome, to: ConsolePaths.signInProvider())
    } catch ConsoleProviderError.changedMeanwhile(let current) {
      let present = current ?? ConsoleProvider()
      answers.version = present.version
      return try await page(signedIn, answers, replacing: present)
    } catch ConsoleProviderError.invalid(let faults) {
      let errors = faults.map(\.fieldError) + (try await actions.unmet(Self.action, signedIn))
      return try await page(signedIn, answers, errors: errors)
    } catch let refusal as ActionDenial {
      let errors = try ActionForms.faults(refusal, Self.action, signedIn)
      return try await page(signedIn, answers, errors: errors)
    }
  }

  private func page(
    _ signedIn: SignedIn, _ answers: SignInProviderAnswers, errors: [FieldError] = [],
    replacing current: ConsoleProvider? = nil
  ) async throws -> Response {
    let stored = try await identity.consoleProviders.find()
    let records = try await identity.administrators.records()
    var errors = errors
    if answers.secret.isLost {
      errors.append(
        FieldError(
          field: answers.secret.name,
          text: Message("Enter the client secret again. It’s never sent back to the browser.")))
    }
    let framed = FrameView(
      await frames.frame(
        Message("Sign-in provider"), for: signedIn, crumbs: Link.crumbsOfInstance, errors: errors))
    let model = SignInProviderView(
      frame: framed, answers: answers, stored: stored,
      current: current,
      accounts: records.map(\.administrator).filter { $0.may(.manageAdministrators, in: nil) },
      origin: publicURL.origin, carriesMail: identity.messages.carriesMail,
      fields: try await actions.fields(Self.action, signedIn, framed))
    let status: Status =
      current != nil ? .conflict : errors.isEmpty ? .ok : .unprocessableContent
    return .html(view.render(model), status: status)
  }
}

extension ConsoleProviderFault {
  var fieldError: FieldError { FieldError(field: field, text: text) }

  private var field: String {
    switch self {
    case .invalidName: "name"
    case .invalidClientID: "client-id"
    case .invalidGroupsClaim: "groups-claim"
    case .invalidScopes: "scopes"
    case .invalidMFAValues: "mfa-values"
    case .invalidGroup, .placeNotFound, .tooManyRoles: "roles"
    case .notProved, .invalidBreakGlassAccount: "break-glass-account"
    case .invalidIssuer, .noOwnSignIn, .unreachable, .discovery, .invalidAddress, .noKeys: "issuer"
    }
  }

  private var text: Message {
    switch self {
    case .invalidName: Message("Enter a name of at most 100 characters.")
    case .invalidIssuer: Message("Enter a URL that begins with https://, without a query.")
    case .invalidClientID: Message("Enter the client ID.")
    case .invalidGroupsClaim: Message("Enter the name of the claim.")
    case .invalidScopes: Message("Enter scopes separated by spaces, including openid.")
    case .invalidMFAValues:
      Message(
        one: "Enter at most {count} value.", other: "Enter at most {count} values, one per line.",
        ["count": .number(ConsoleProvider.mostMFAValues)])
    case .invalidGroup(let line):
      Message(
        one: "Line {number}: shorten the group to {count} byte.",
        other: "Line {number}: shorten the group to {count} bytes.",
        ["number": .number(line), "count": .number(ProviderGroups.longest)])
    case .placeNotFound(let line):
      Message("Line {number}: this project or tenant doesn’t exist.", ["number": .number(line)])
    case .tooManyRoles:
      Message(
        one: "Enter at most {count} line.", other: "Enter at most {count} lines.",
        ["count": .number(ConsoleProvider.mostRoles)])
    case .notProved: Message("Sign in with the provider first, to prove that it works.")
    case .invalidBreakGlassAccount:
      Message(
        """
        Choose an account with a password or passkey that can manage administrators of the \
        instance through a manually granted role without an end date.
        """)
    case .noOwnSignIn:
      Message(
        """
        Links with the current issuer don’t work with another one, so no one who manages \
        administrators could sign in. First, make sure someone who manages administrators \
        through a manually granted role without an end date has a password or passkey.
        """)
    case .unreachable(let diagnosis):
      Message(
        "The discovery document can’t be fetched: {diagnosis}", ["diagnosis": .text(diagnosis)])
    case .discovery(let fault): fault.message
    case .invalidAddress(let name):
      Message(
        "This server can’t connect to the {member} of the discovery document.",
        ["member": .text(name)])
    case .noKeys: Message("The provider publishes no key for RS256 or ES256.")
    }
  }
}

extension Discovery.Fault {
  fileprivate var message: Message {
    switch self {
    case .unreadable: Message("The discovery document can’t be read.")
    case .otherIssuer:
      Message(
        """
        The discovery document names a different issuer. Enter the issuer exactly as it appears \
        there.
        """)
    case .missing(let name):
      Message("The discovery document has no usable {member}.", ["member": .text(name)])
    case .noCodeFlow: Message("The provider doesn’t support the authorization code flow.")
    case .noPKCE: Message("The provider doesn’t support PKCE with S256.")
    case .noAlgorithm: Message("The provider signs ID tokens with neither RS256 nor ES256.")
    }
  }
}

enum SignInProviderRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let settings = try parts.page("sign-in-provider/settings", SignInProviderPage.init)
    table.signedIn(ConsolePaths.signInProvider, .get(.manageAdministrators), settings.show)
    table.signedIn(ConsolePaths.signInProvider, .performing(.changeSignInProvider), settings.save)

    table.add(RemoveSignInProvider(providers: identity.consoleProviders), parts.actions)
  }
}

extension ConsolePaths {
  static let signInProvider = Path("administrators", "sign-in-provider")
}
