import Crypto
import HTTP
import Identity

struct SupportRedirect: Sendable {
  let frames: Frames

  /// Redirects to a page that shows the flash, if there is one, and sets the new session cookie if
  /// the agent entered a code.
  func response(
    _ flash: Flash?, _ signedIn: SignedIn, renewed: NewConsoleSession?, to path: String
  ) -> Response {
    if let flash { frames.leave(flash, for: renewed?.session ?? signedIn.session) }
    var response = Response.redirect(to: path)
    if let renewed { keep(renewed, in: &response) }
    return response
  }

  func keep(_ renewed: NewConsoleSession, in response: inout Response) {
    response.set(frames.cookies.session(renewed.token.revealedText))
  }
}
