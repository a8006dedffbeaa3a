FROM python:3.12-slim
WORKDIR /app
COPY pyproject.toml README.md LICENSE LICENSE-WEIGHTS constraints.txt ./
COPY src src
RUN pip install --no-cache-dir -c constraints.txt ".[serve]" && useradd --create-home --uid 1000 cascada
USER 1000
EXPOSE 8080
HEALTHCHECK CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8080/ready')"]
ENTRYPOINT ["cascada", "serve", "--host", "0.0.0.0"]
