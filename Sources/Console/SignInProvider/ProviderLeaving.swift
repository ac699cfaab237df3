import Crypto
import HTTP
import Identity
import Localization
import Templating

/// Sends the browser to the provider, and back to a page of this server.
///
/// After a form, and after another site's page, that's a page that continues automatically: the browser
/// refuses to follow a form's redirect to another site, and another site's redirect has no strict
/// cookies.
struct ProviderLeaving: Sendable {
  let identity: Identity
  let cookies: ConsoleCookies
  let publicURL: PublicURL
  let frames: Frames
  let view: Template<ProviderLeavingView>

  /// Where the provider sends its answers.
  var redirect: String { publicURL.origin + ConsolePaths.providerCallback() }

  /// Keeps what the answer is matched with in the browser.
  func keep(_ start: ProviderStart, next: String?, in response: inout Response) {
    response.fields.add(
      .setCookie, cookies.provider(start.ticket.revealedText, next: next).description)
  }

  /// The page that leads to the provider.
  func leave(
    _ start: ProviderStart, next: String?, for request: Request
  ) async throws(Refusal) -> Response {
    var response = try await page(start.address, for: request)
    keep(start, next: next, in: &response)
    return response
  }

  /// The page that repeats a request, now from a page of this server.
  func comeBack(_ request: Request) async throws(Refusal) -> Response {
    try await page(
      request.target.rawPath + "?" + (request.target.rawQuery ?? "") + "&returned=1", for: request)
  }

  private func page(_ address: String, for request: Request) async throws(Refusal) -> Response {
    let name = try await refusing { try await identity.consoleProviders.name() }
    guard let name else { throw .notFound }
    let frame = frames.bare(
      Message("sign-in-provider.continuing"), for: request, path: ConsolePaths.signIn())
    let model = ProviderLeavingView(frame: FrameView(frame), name: name, address: address)
    var response = Response.html(view.render(model))
    let cleaned = Response.redirect(to: address).fields[.location] ?? ""
    response.fields.add("Refresh", "0; url=\(cleaned)")
    return response
  }
}

struct ProviderLeavingView: ViewModel {
  let frame: FrameView
  let name: String
  let address: String

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.name),
    .text(\.address),
  ]
}
