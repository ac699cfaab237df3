public import HTTP
public import Localization
import Templating

/// The console in every installed locale; each request gets the best one for its client.
public struct Consoles: Sendable {
  private let consoles: [Console]
  private let locales: [String]

  /// `catalogs` has at least one; the first is the default.
  public init(_ catalogs: [Catalog], console: (Catalog) throws -> Console) rethrows {
    precondition(!catalogs.isEmpty, "no catalog")
    consoles = try catalogs.map(console)
    locales = catalogs.map(\.locale)
  }

  public var routeLabels: [Route.Label] { consoles[0].routeLabels }

  /// Responds to a request in the best locale for its `Accept-Language` field.
  public func respond(to request: Request) async -> Response {
    guard consoles.count > 1 else { return await consoles[0].respond(to: request) }
    let preferences = LanguagePreferences(request.fields[.acceptLanguage] ?? "")
    let console = consoles[preferences.best(among: locales)]
    var response = await console.respond(to: request)
    response.fields.add(.vary, "Accept-Language")
    return response
  }

  public func failure(_ status: Status, requestID: RequestID? = nil) -> Response {
    consoles[0].failure(status, requestID: requestID)
  }
}
