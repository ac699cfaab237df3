import HTTP
import Identity

/// Signing in.
///
/// Added last, because a sign-in leads on to the pages of all others.
enum SignInRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let closed = table.all.filter { $0.access != .open }
    let destinations = closed.map(\.route)

    let signIn = SignInPage(
      identity: identity, authorizer: parts.authorizer, frames: frames,
      view: try parts.template("sign-in/sign-in", for: SignInView.self),
      destinations: destinations)
    table.open(.get, ConsolePaths.signIn, signIn.show)
    table.open(.post, ConsolePaths.signIn, signIn.signIn)

    let answers = KeptAnswersPage(
      identity: identity, authorizer: parts.authorizer, frames: frames,
      view: try parts.template("sign-in/answers", for: KeptAnswersView.self),
      routes: KeptFormRoutes(closed))
    table.signedIn(.get, ConsolePaths.keptAnswers, nil, answers.show)

    let code = SignInCodePage(
      identity: identity, authorizer: parts.authorizer, frames: frames,
      view: try parts.template("sign-in/code", for: SignInCodeView.self),
      destinations: destinations)
    table.open(.get, ConsolePaths.signInCode, code.show)
    table.open(.post, ConsolePaths.signInCode, code.signIn)

    let use = try parts.template("passkeys/use", for: PasskeyUseView.self)
    func page(isSecondFactor: Bool) -> SignInPasskeyPage {
      SignInPasskeyPage(
        identity: identity, authorizer: parts.authorizer, frames: frames, view: use,
        isSecondFactor: isSecondFactor, destinations: destinations)
    }
    let (alone, second) = (page(isSecondFactor: false), page(isSecondFactor: true))
    table.open(.get, ConsolePaths.signInPasskey, alone.show)
    table.open(.post, ConsolePaths.signInPasskey, alone.signIn)
    table.open(.get, ConsolePaths.signInCodePasskey, second.show)
    table.open(.post, ConsolePaths.signInCodePasskey, second.signIn)
  }
}

extension ConsolePaths {
  static let signIn = Path("sign-in")
  static let signInCode = Path("sign-in", "code")
  static let signInPasskey = Path("sign-in", "passkey")
  static let signInCodePasskey = Path("sign-in", "code", "passkey")
  static let keptAnswers = Path("sign-in", "answers")
}
