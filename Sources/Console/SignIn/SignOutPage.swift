import HTTP
import Identity
import Localization
import Templating

/// `/sign-out`: asks for confirmation and ends the session.
struct SignOutPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<SignOutView>

  func ask(_ signedIn: SignedIn) async throws -> Response {
    let frame = await frames.frame(Message("Sign out"), for: signedIn)
    return .html(view.render(SignOutView(frame: FrameView(frame))))
  }

  func signOut(_ signedIn: SignedIn) async throws -> Response {
    try await identity.consoleSessions.end(signedIn.session, by: signedIn.author)
    var response = Response.redirect(
      to: (["signed-out": "1"] as Form).query(of: ConsolePaths.signIn()))
    response.set(parts.authorizer.cookies.session("").ended)
    // Cached pages can contain user data.
    response.fields.add("Clear-Site-Data", "\"cache\", \"storage\"")
    return response
  }
}

struct SignOutView: ViewModel {
  let frame: FrameView

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { _ in ConsolePaths.signOut() },
    .text("home") { _ in ConsolePaths.home() },
  ]
}

enum SignOutRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let signOut = try parts.page("sign-out/sign-out", SignOutPage.init)
    table.settingUp(.get, ConsolePaths.signOut, at: .anyStage, signOut.ask)
    table.settingUp(.post, ConsolePaths.signOut, at: .anyStage, signOut.signOut)
  }
}

extension ConsolePaths {
  static let signOut = Path("sign-out")
}
