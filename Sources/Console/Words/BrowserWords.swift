import Synchronization

/// What a browser calls itself, in words that its owner knows it by.
enum BrowserWords {
  /// What programs were called before; looking through a name costs more than a line of a page.
  private static let names = Mutex<[String: String]>([:])
  private static let mostNames = 500

  /// `Firefox on Windows`; what is not known is said so.
  static func name(_ userAgent: String) -> String {
    known(userAgent) ?? "A browser that does not say which"
  }

  /// `Firefox on Windows`; nil for what is not known.
  ///
  /// Browsers name their forebears too, so the order matters.
  static func known(_ userAgent: String) -> String? {
    let kept = names.withLock { $0[userAgent] }
    let name = kept ?? found(userAgent) ?? ""
    if kept == nil {
      names.withLock { names in
        // Anybody can send names; they must not stay for ever.
        if names.count >= mostNames { names = [:] }
        names[userAgent] = name
      }
    }
    return name.isEmpty ? nil : name
  }

  private static func found(_ userAgent: String) -> String? {
    let browsers = [
      ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"),
      ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("CriOS/", "Chrome"),
      ("Chromium/", "Chromium"), ("Chrome/", "Chrome"), ("Safari/", "Safari"), ("curl/", "curl"),
    ]
    let systems = [
      ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
      ("CrOS", "ChromeOS"), ("Mac OS X", "macOS"), ("Linux", "Linux"),
    ]
    let browser = browsers.first { userAgent.contains($0.0) }?.1
    let system = systems.first { userAgent.contains($0.0) }?.1
    switch (browser, system) {
    case (let browser?, let system?): return "\(browser) on \(system)"
    case (let browser?, nil): return browser
    case (nil, let system?): return "A browser on \(system)"
    case (nil, nil): return nil
    }
  }
}
